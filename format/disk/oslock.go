package disk

import (
	"errors"
	"io/fs"
	"sync"
)

// lockTable holds the handles of this process that have the exclusive lock, by
// device and inode. Some systems grant a second lock to the same process, or
// drop the first when any handle closes; here the second TryLock always fails.
var lockTable = struct {
	sync.Mutex
	holder map[FileID]*osFile
}{holder: make(map[FileID]*osFile)}

// claim enters o as the holder of its inode unless another handle is.
func claim(o *osFile) bool {
	lockTable.Lock()
	defer lockTable.Unlock()
	if lockTable.holder[o.id] != nil {
		return false
	}
	lockTable.holder[o.id] = o
	return true
}

func disclaim(o *osFile) {
	lockTable.Lock()
	defer lockTable.Unlock()
	if lockTable.holder[o.id] == o {
		delete(lockTable.holder, o.id)
	}
}

func claimed(id FileID) bool {
	lockTable.Lock()
	defer lockTable.Unlock()
	return lockTable.holder[id] != nil
}

func (o *osFile) TryLock() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return o.failed("lock", fs.ErrClosed)
	case o.locked:
		return nil
	case !claim(o):
		return o.failed("lock", ErrWouldBlock)
	}
	err := o.control("lock", func(fd uintptr) error { return tryLock(fd, true) })
	if err != nil {
		disclaim(o)
		return err
	}
	o.locked = true
	return nil
}

func (o *osFile) Unlock() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return o.failed("unlock", fs.ErrClosed)
	}
	return o.unlock()
}

// unlock gives the system's lock back before the table's: whoever finds the
// table free finds the lock free too. REQUIRES: o.mu.
func (o *osFile) unlock() error {
	if !o.locked {
		return nil
	}
	err := o.control("unlock", unlock)
	if err != nil {
		return err
	}
	o.locked = false
	disclaim(o)
	return nil
}

func (o *osFile) LockedByOther() (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return false, o.failed("lock", fs.ErrClosed)
	case o.locked:
		return false, nil
	case claimed(o.id):
		return true, nil
	}
	err := o.control("lock", func(fd uintptr) error {
		if err := tryLock(fd, false); err != nil {
			return err
		}
		return unlock(fd)
	})
	if errors.Is(err, ErrWouldBlock) {
		return true, nil
	}
	return false, err
}
