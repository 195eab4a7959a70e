//go:build unix

package disk

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func statHandle(fd uintptr) (identity, error) {
	var st unix.Stat_t
	for {
		if err := unix.Fstat(int(fd), &st); err != unix.EINTR {
			return identityOf(&st), err
		}
	}
}

func statPath(path string) (identity, error) {
	var st unix.Stat_t
	for {
		err := unix.Stat(path, &st)
		if err == unix.EINTR {
			continue
		}
		if err == unix.ENOTDIR { // a directory of the path was replaced by a file
			err = fs.ErrNotExist
		}
		return identityOf(&st), err
	}
}

// The fields have other widths and signs on each system.
func identityOf(st *unix.Stat_t) identity {
	return identity{
		id:    FileID{Device: uint64(st.Dev), Inode: uint64(st.Ino)},
		links: uint64(st.Nlink),
	}
}
