package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ctxdb/engine"
)

// placeError says what is wrong with the place where a file is made or written, in words
// that name that file and not the temporary one. nil: the error is about something else.
func placeError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: the file system is read-only; choose another place, or a verb that only reads", path)
	case errors.Is(err, engine.ErrNoSpace), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: no space left on the disk; free some and try again", path)
	case errors.Is(err, engine.ErrReadOnly), !errors.Is(err, fs.ErrPermission):
		return nil
	case isAbsent(path):
		return fmt.Errorf("%s: permission denied; the folder %s must be writable", path, filepath.Dir(path))
	}
	return fmt.Errorf("%s: permission denied; the file and its folder must be writable", path)
}

// bare is an error without the name of a temporary file.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
