package disk

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
)

var (
	errFileTooLarge   = errors.New("file too large for the memory file system")
	errNegativeOffset = errors.New("negative offset")
)

// memFile is an open file of a Mem. It offers no Mapper.
type memFile struct {
	mem     *Mem
	node    *inode
	path    string
	write   bool
	process int64
	closed  bool // guarded by mem.mu
}

// enter asks the hook and then takes the lock of the file system, which the
// caller releases when the error is nil.
func (f *memFile) enter(op Op) error {
	op.Name = f.path
	if err := f.mem.before(op); err != nil {
		return f.failed(op.Kind.String(), err)
	}
	return f.lock(op.Kind.String())
}

func (f *memFile) lock(op string) error {
	f.mem.mu.Lock()
	var err error
	switch {
	case f.closed:
		err = fs.ErrClosed
	case f.process != f.mem.process:
		err = ErrCrashed
	default:
		return nil
	}
	f.mem.mu.Unlock()
	return f.failed(op, err)
}

func (f *memFile) failed(op string, err error) error { return pathError(op, f.path, err) }

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.enter(Op{Kind: OpRead, Off: off, Len: len(p)}); err != nil {
		return 0, err
	}
	defer f.mem.mu.Unlock()
	if off < 0 {
		return 0, f.failed("read", errNegativeOffset)
	}
	n := f.node.now.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	verdict := f.mem.before(Op{Kind: OpWrite, Name: f.path, Off: off, Len: len(p), Data: p})
	part, skip, result := allowedWrite(p, verdict)
	if err := f.lock("write"); err != nil {
		return 0, err
	}
	defer f.mem.mu.Unlock()
	if err := f.writable(off, int64(len(p))); err != nil {
		return 0, f.failed("write", err)
	}
	if skip {
		return len(p), nil
	}
	if len(part) > 0 {
		n := f.node
		c := change{off: off, data: slices.Clone(part), was: n.now.size}
		n.now.writeAt(c.data, off)
		c.size = n.now.size
		n.pending = append(n.pending, c)
	}
	if result != nil {
		return len(part), f.failed("write", result)
	}
	return len(part), nil
}

func (f *memFile) Truncate(size int64) error {
	err := f.enter(Op{Kind: OpTruncate, Off: size})
	if err != nil {
		return skipped(err)
	}
	defer f.mem.mu.Unlock()
	if err := f.writable(size, 0); err != nil {
		return f.failed("truncate", err)
	}
	n := f.node
	n.pending = append(n.pending, change{size: size, was: n.now.size})
	n.now.resize(size)
	return nil
}

// writable checks a change of n bytes at off. REQUIRES: mem.mu.
func (f *memFile) writable(off, n int64) error {
	switch {
	case !f.write:
		return syscall.EBADF
	case off < 0:
		return errNegativeOffset
	case off > MaxMemFile-n:
		return errFileTooLarge
	}
	return nil
}

func (f *memFile) Sync() error {
	err := f.enter(Op{Kind: OpSync})
	var lost *FailedSync
	if errors.As(err, &lost) {
		if lockErr := f.lock("sync"); lockErr != nil {
			return lockErr
		}
		defer f.mem.mu.Unlock()
		f.node.loseCache(lost.Reached, f.mem.rng(lost.Reached))
		return err
	}
	if err != nil {
		return skipped(err)
	}
	defer f.mem.mu.Unlock()
	f.node.sync()
	return nil
}

// sync makes the pending changes durable. After a failed sync these are fewer
// than what reads see, and stay fewer.
func (n *inode) sync() {
	if n.lied {
		for i := range n.pending {
			n.pending[i].apply(&n.durable)
		}
	} else if len(n.pending) > 0 {
		n.durable = n.now.clone()
	}
	n.pending = nil
}

// loseCache marks all pages clean, of which only a part became durable.
func (n *inode) loseCache(reached Variant, rng *rand.Rand) {
	n.durable = tear(&n.durable, n.pending, reached.Mode, rng)
	n.pending, n.lied = nil, true
}

// failSync is how Inject fails a sync in the manner of FailedSync.
func (f *memFile) failSync(reached Variant) error {
	if err := f.lock("sync"); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	f.node.loseCache(reached, f.mem.rng(reached))
	return nil
}

func (f *memFile) Size() (int64, error) {
	if err := f.enter(Op{Kind: OpStat}); err != nil {
		return 0, err
	}
	defer f.mem.mu.Unlock()
	return f.node.now.size, nil
}

func (f *memFile) Check() error {
	if err := f.enter(Op{Kind: OpStat}); err != nil {
		return err
	}
	defer f.mem.mu.Unlock()
	named, err := f.mem.lookup(f.path)
	if f.node.links == 0 || errors.Is(err, fs.ErrNotExist) || (err == nil && named != f.node) {
		return f.failed("check", ErrReplaced)
	}
	if err != nil {
		return f.failed("check", err)
	}
	return nil
}

func (f *memFile) ID() (FileID, error) {
	if err := f.lock("stat"); err != nil {
		return FileID{}, err
	}
	defer f.mem.mu.Unlock()
	return FileID{Inode: f.node.num}, nil
}
