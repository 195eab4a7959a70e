//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package disk

import "errors"

// Without a lock of the whole file there is no safe writer: TryLock fails.
func tryLock(fd uintptr, exclusive bool) error { return errors.ErrUnsupported }

func unlock(fd uintptr) error { return errors.ErrUnsupported }
