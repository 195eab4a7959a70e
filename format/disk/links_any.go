//go:build !windows

package disk

import (
	"errors"
	"syscall"
)

// noHardLinks reports whether os.Link failed for want of hard links. Linux says
// EPERM for a file system without them (and where a policy protects them).
func noHardLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)
}
