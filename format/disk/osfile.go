package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// identity is what a handle or a path leads to.
type identity struct {
	id    FileID
	links uint64 // names that are left
}

type osFile struct {
	f    *os.File
	raw  syscall.RawConn
	path string // absolute, as it was given: links in it are followed by Check
	id   FileID // invariant: constant while the handle is open

	// mu orders lock, unlock and close of this handle. Without it the shared
	// lock of LockedByOther could replace the exclusive one of TryLock.
	mu     sync.Mutex
	locked bool // invariant: true exactly while lockTable[id] == this handle
	closed bool
}

// newOSFile takes f over: it is closed when the result is an error.
func newOSFile(f *os.File, path string) (File, error) {
	o, err := describe(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return o, nil
}

func describe(f *os.File, path string) (*osFile, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := regular(path, fi); err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	o := &osFile{f: f, raw: raw, path: path}
	now, err := o.identity()
	o.id = now.id
	return o, err
}

// OSFile implements Mapper.
func (o *osFile) OSFile() *os.File { return o.f }

func (o *osFile) ReadAt(p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }

func (o *osFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := o.f.WriteAt(p, off)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

func (o *osFile) Size() (int64, error) {
	fi, err := o.f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

func (o *osFile) Sync() error { return syncData(o) }

func (o *osFile) Truncate(size int64) error { return o.f.Truncate(size) }

func (o *osFile) ID() (FileID, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return FileID{}, o.failed("stat", fs.ErrClosed)
	}
	return o.id, nil
}

func (o *osFile) Check() error {
	open, err := o.identity()
	if err != nil {
		return err
	}
	if open.links == 0 {
		return o.failed("check", ErrReplaced)
	}
	named, err := statPath(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return o.failed("check", ErrReplaced)
	}
	if err != nil {
		return o.failed("check", err)
	}
	if named.id != open.id {
		return o.failed("check", ErrReplaced)
	}
	return nil
}

func (o *osFile) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return o.failed("close", fs.ErrClosed)
	}
	// A child process that was forked a moment ago may still have the file
	// open, and with it the lock: so unlock first.
	err := o.unlock()
	o.closed = true
	return errors.Join(err, o.f.Close())
}

func (o *osFile) identity() (identity, error) {
	var now identity
	err := o.control("stat", func(fd uintptr) (err error) {
		now, err = statHandle(fd)
		return err
	})
	return now, err
}

// control runs call on the descriptor, which cannot be closed and reused under it.
func (o *osFile) control(op string, call func(fd uintptr) error) error {
	var callErr error
	if err := o.raw.Control(func(fd uintptr) { callErr = call(fd) }); err != nil {
		return o.failed(op, fs.ErrClosed) // Control itself fails in no other way
	}
	if callErr != nil {
		return o.failed(op, callErr)
	}
	return nil
}

func (o *osFile) failed(op string, err error) error {
	return &fs.PathError{Op: op, Path: o.path, Err: err}
}
