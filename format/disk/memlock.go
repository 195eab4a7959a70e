package disk

func (f *memFile) TryLock() error {
	if err := f.enter(Op{Kind: OpLock}); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	if f.node.holder != nil && f.node.holder != f {
		return f.failed("lock", ErrWouldBlock)
	}
	f.node.holder = f
	return nil
}

func (f *memFile) Unlock() error {
	if err := f.lock("unlock"); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	f.unlock()
	return nil
}

// unlock requires mem.mu.
func (f *memFile) unlock() {
	if f.node.holder == f {
		f.node.holder = nil
	}
}

func (f *memFile) LockedByOther() (bool, error) {
	if err := f.enter(Op{Kind: OpLock}); err != nil {
		return false, err
	}
	defer f.mem.mu.Unlock()
	return f.node.holder != nil && f.node.holder != f, nil
}

func (f *memFile) Close() error {
	if err := f.lock("close"); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	f.unlock()
	f.closed = true
	return nil
}
