//go:build !windows

package disk

import (
	"errors"
	"os"
	"syscall"
)

// syncDirectory makes the entries of dir durable. Some file systems, mostly
// remote ones, cannot sync a directory and say EINVAL or ENOTSUP: they are
// taken at their word, as nothing better can be had there.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
