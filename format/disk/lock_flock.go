//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryLock takes a lock on the open file, exclusive or shared, without waiting.
func tryLock(fd uintptr, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	err := flock(fd, how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrWouldBlock
	}
	return err
}

func unlock(fd uintptr) error { return flock(fd, unix.LOCK_UN) }

func flock(fd uintptr, how int) error {
	for {
		if err := unix.Flock(int(fd), how); err != unix.EINTR {
			return err
		}
	}
}
