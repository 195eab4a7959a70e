package engine

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"ctxdb/format"
	"ctxdb/segment"
)

// Errors of Open.
var (
	// ErrLocked: another process, or another DB of this one, has the file open
	// for writing. The error is a *LockedError.
	ErrLocked = errors.New("locked by another writer")
	// ErrVersion: a newer program wrote the file.
	ErrVersion = format.ErrVersion
	// ErrNotCtxdb: the file is something else.
	ErrNotCtxdb = format.ErrNotCtxdb
	// ErrEmpty: the file has no bytes yet. Opening it for writing begins a file in
	// it. It is ErrNotCtxdb too.
	ErrEmpty = errors.New("empty")
)

// Errors of reading.
var (
	// ErrNotFound: there is no such turn or key.
	ErrNotFound = errors.New("not found")
	// ErrForgotten: the turn was forgotten on request.
	ErrForgotten = errors.New("forgotten")
	// ErrCorrupt: committed bytes differ from what was written. The error is a
	// *CorruptError.
	ErrCorrupt = format.ErrCorrupt
	// ErrTruncated: the file is shorter than its superblock says.
	ErrTruncated = segment.ErrTruncated
)

// Errors of writing.
var (
	// ErrKeyExists: the key names a turn of other content.
	ErrKeyExists = errors.New("key exists with other content")
	// ErrTooLarge: a limit is exceeded; nothing was written. The message names it.
	ErrTooLarge = format.ErrTooLarge
	// ErrNoSpace: the disk is full; nothing changed. Works again when there is
	// space.
	ErrNoSpace = errors.New("no space left for the next commit")
	// ErrBroken: an earlier write or sync failed, so this DB writes no more.
	// Reading goes on. Close it and open it again.
	ErrBroken = errors.New("refusing to write after a failed write or sync")
	// ErrReadOnly: the DB was opened for reading, or the file system permits no
	// more.
	ErrReadOnly = errors.New("read-only")
	// ErrClosed: the DB or the Window was closed.
	ErrClosed = errors.New("closed")
)

// ErrOverBudget: a turn or a pin does not fit the window's budget; nothing
// changed.
var ErrOverBudget = errors.New("over budget")

// CorruptError says which bytes are damaged: path, region, absolute offset.
type CorruptError = format.CorruptError

// LockedError says who holds the writer's lock.
type LockedError struct {
	Path  string
	PID   uint64 // 0: unknown
	Host  string
	Since time.Time // when it was opened for writing
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: locked by another writer%s; close it there, or set Options.ReadOnly", e.Path, e.Holder())
}

// Holder is who holds the lock and since when, as part of a sentence: ": process 42
// on a host since ..."; "" if that is not known.
func (e *LockedError) Holder() string {
	if e.PID == 0 {
		return ""
	}
	return fmt.Sprintf(": process %d on %s since %s", e.PID, e.Host, e.Since.UTC().Format(time.RFC3339))
}

// Is reports that every LockedError is an ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// UnwritableError says that a file can't be opened for writing, though perhaps for
// reading: the file system or the permissions don't allow it (Err wraps
// ErrReadOnly), or a newer program wrote it (ErrVersion).
type UnwritableError struct{ Err error }

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("%v; set Options.ReadOnly to read it", e.Err)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// BatchError says for which turn an Append failed.
type BatchError struct {
	Index int // of the turn in the batch, from 0
	Err   error
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("turn %d of the batch: %v", e.Index+1, e.Err)
}

func (e *BatchError) Unwrap() error { return e.Err }

// isNoSpace reports whether a failed write says that the disk is full, and not
// that the DB broke on one.
func isNoSpace(err error) bool {
	return !errors.Is(err, ErrBroken) && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || isQuota(err))
}

// withPath puts the path into a CorruptError that does not have one.
func withPath(path string, err error) error {
	var c *CorruptError
	if errors.As(err, &c) && c.Path == "" {
		c.Path = path
		return err
	}
	return err
}

// isReadOnlyFS reports whether opening for writing failed since the file system
// or the permissions don't allow it.
func isReadOnlyFS(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission)
}
