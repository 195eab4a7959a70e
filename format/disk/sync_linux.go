package disk

import "golang.org/x/sys/unix"

// syncData leaves the times of the file alone, and so saves the journal commit
// that a full fsync of an overwritten range would cost. A changed size is part
// of what fdatasync makes durable.
func syncData(o *osFile) error {
	return o.control("fdatasync", func(fd uintptr) error {
		for {
			if err := unix.Fdatasync(int(fd)); err != unix.EINTR {
				return err
			}
		}
	})
}
