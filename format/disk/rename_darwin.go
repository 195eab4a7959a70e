package disk

import "golang.org/x/sys/unix"

// renameNoReplace renames in one step that fails with EEXIST when to exists.
func renameNoReplace(from, to string) error {
	return unix.RenameatxNp(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCL)
}
