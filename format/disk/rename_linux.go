package disk

import "golang.org/x/sys/unix"

// renameNoReplace renames in one step that fails with EEXIST when to exists.
// File systems that cannot promise this say EINVAL.
func renameNoReplace(from, to string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
		if err != unix.EINTR {
			return err
		}
	}
}
