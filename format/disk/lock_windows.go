package disk

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Locks of Windows are mandatory: they keep others from reading the locked
// bytes. So the byte that is locked lies far beyond any file, at 1<<62.
const lockOffsetHigh = 1 << 30

func lockRegion() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: lockOffsetHigh} }

// tryLock takes a lock on the open file, exclusive or shared, without waiting.
func tryLock(fd uintptr, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, lockRegion())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrWouldBlock
	}
	return err
}

func unlock(fd uintptr) error {
	return windows.UnlockFileEx(windows.Handle(fd), 0, 1, 0, lockRegion())
}
