package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// OS is the file system of the machine.
var OS FS = osFS{}

type osFS struct{}

var errNotRegular = errors.New("not a regular file")

// maxLinks bounds the symbolic links followed for one name, as kernels do.
const maxLinks = 40

var errTooManyLinks = errors.New("too many levels of symbolic links")

func (osFS) Open(path string, write bool) (File, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	// Opening a pipe or a device can wait for ever or have effects of its own,
	// so the kind is asked for first, and again of what was really opened.
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, fi); err != nil {
		return nil, err
	}
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	return newOSFile(f, path)
}

func (osFS) CreateTemp(path string) (File, string, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return nil, "", err
	}
	name := f.Name()
	file, err := newOSFile(f, name)
	if err != nil {
		return nil, "", errors.Join(err, os.Remove(name))
	}
	return file, name, nil
}

// tempPattern names a temporary after the file it will become, so that one
// left by a crash tells where it came from. Names are limited to 255 bytes.
func tempPattern(path string) string {
	base := filepath.Base(path)
	if len(base) > 200 {
		base = "long"
	}
	return "." + base + ".*.tmp"
}

func (osFS) Link(tmp, path string) error {
	err := os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) || !noHardLinks(err) {
		return err
	}
	// No hard links here. A rename serves as well if it is the system that
	// refuses to replace: a look before a plain rename would be a race.
	renameErr := renameNoReplace(tmp, path)
	switch {
	case renameErr == nil:
		return nil
	case errors.Is(renameErr, fs.ErrExist):
		return &os.LinkError{Op: "rename", Old: tmp, New: path, Err: renameErr}
	}
	return errors.Join(err, renameErr)
}

func (osFS) Remove(path string) error { return os.Remove(path) }

func (osFS) SyncDir(path string) error {
	path, err := absolute(path)
	if err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

func (osFS) Resolve(path string) (string, error) {
	path, err := absolute(path)
	if err != nil {
		return "", err
	}
	given := path
	for range maxLinks {
		// Split, unlike Dir, leaves the directory unclean: with links in it,
		// "d/.." need not be the directory that d stands in.
		dir, base := filepath.Split(path)
		if base == "" || base == "." || base == ".." {
			return filepath.EvalSymlinks(path)
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
		fi, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = dir + string(filepath.Separator) + target
		}
		path = target
	}
	return "", &fs.PathError{Op: "resolve", Path: given, Err: errTooManyLinks}
}

// absolute makes a later change of the working directory harmless to Check.
// It does not clean: see Resolve.
func absolute(path string) (string, error) {
	if path == "" {
		return "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	if runtime.GOOS == "windows" { // drives have working directories of their own
		return filepath.Abs(path)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return wd + string(filepath.Separator) + path, nil
}

func regular(path string, fi fs.FileInfo) error {
	switch {
	case fi.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case !fi.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return nil
}
