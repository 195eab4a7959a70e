package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// openLocked opens the file for writing and takes the writer's lock. The file
// may be replaced between the two; then it starts over.
func openLocked(o *Options, path string) (disk.File, error) {
	for range 10 {
		f, err := o.FS.Open(path, true)
		if err != nil {
			return nil, err
		}
		if err := lock(f, path, o.LockWait); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		err = f.Check()
		if err == nil {
			return f, nil
		}
		f.Unlock()
		f.Close()
		if !errors.Is(err, disk.ErrReplaced) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: is replaced again and again while it is opened", path)
}

// lock waits a bounded time for the writer's lock.
func lock(f disk.File, path string, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f.TryLock()
		if err == nil {
			return nil
		}
		if !errors.Is(err, disk.ErrWouldBlock) {
			return fmt.Errorf("%s: lock: %w", path, err)
		}
		left := time.Until(deadline)
		if left <= 0 {
			return lockedError(f, path)
		}
		time.Sleep(min(pause, left))
	}
}

// lockedError says what the holder block says about the holder.
func lockedError(f disk.File, path string) error {
	e := &LockedError{Path: path}
	b := make([]byte, format.HolderSize)
	if _, err := f.ReadAt(b, format.HolderOffset); err != nil && err != io.EOF {
		return e
	}
	if h, ok := format.DecodeHolder(b); ok {
		e.PID, e.Host, e.Since = h.PID, h.Host, h.Since
	}
	return e
}

// writeHolder leaves word of this process for who finds the lock held. It is
// never synced for and nothing depends on it.
func writeHolder(f disk.File, now time.Time) error {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	_, err = f.WriteAt(format.Holder{PID: uint64(os.Getpid()), Since: now, Host: host}.Encode(), format.HolderOffset)
	return err
}
