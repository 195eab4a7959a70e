package disk

import (
	"errors"

	"golang.org/x/sys/windows"
)

// renameNoReplace fails when to exists: MoveFileEx replaces only when told to.
func renameNoReplace(from, to string) error {
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(old, name, windows.MOVEFILE_WRITE_THROUGH)
}

// noHardLinks reports whether os.Link failed for want of hard links (FAT, exFAT).
func noHardLinks(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) ||
		errors.Is(err, windows.ERROR_NOT_SUPPORTED) ||
		errors.Is(err, errors.ErrUnsupported)
}
