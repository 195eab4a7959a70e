package disk

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Kind is the kind of an operation as hooks and injectors see it.
type Kind uint8

const (
	OpOpen       Kind = iota + 1 // FS.Open
	OpCreateTemp                 // FS.CreateTemp
	OpLink                       // FS.Link
	OpRemove                     // FS.Remove
	OpSyncDir                    // FS.SyncDir
	OpRead                       // File.ReadAt
	OpWrite                      // File.WriteAt
	OpSync                       // File.Sync
	OpTruncate                   // File.Truncate
	OpStat                       // File.Size, File.Check
	OpLock                       // File.TryLock, File.LockedByOther
	kindEnd
)

var kindNames = [kindEnd]string{
	OpOpen: "open", OpCreateTemp: "createtemp", OpLink: "link", OpRemove: "remove", OpSyncDir: "syncdir",
	OpRead: "read", OpWrite: "write", OpSync: "sync", OpTruncate: "truncate", OpStat: "stat", OpLock: "lock",
}

func (k Kind) String() string {
	if k == 0 || k >= kindEnd {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Changes reports whether an operation of this kind can change what a crash
// leaves, so that a crash harness wants an image before and after it.
func (k Kind) Changes() bool {
	return slices.Contains([]Kind{OpCreateTemp, OpLink, OpRemove, OpSyncDir, OpWrite, OpSync, OpTruncate}, k)
}

// Op is one operation that is about to happen.
type Op struct {
	N    int64 // counts all operations of the Mem or Inject, from 1
	Kind Kind
	Name string // the path as the caller gave it; the new name for OpLink
	Off  int64  // OpRead, OpWrite; the new size for OpTruncate
	Len  int    // OpRead, OpWrite
	Data []byte // OpWrite: the caller's bytes, valid until the hook returns, not to be changed
}

func (o Op) String() string {
	return fmt.Sprintf("op %d: %s %s off=%d len=%d", o.N, o.Kind, o.Name, o.Off, o.Len)
}

// Hook is called before each operation, without any lock held, so it may take
// crash images. nil lets the operation happen. SkipOp, *ShortWrite and
// *FailedSync have effects of their own; with any other error the operation
// does not happen and fails with that error.
type Hook func(Op) error

// SkipOp makes an operation report success without effect: a lying disk. It
// serves writes, syncs, truncates, links, removals and directory syncs; for
// other kinds it is an error like any other.
//
//lint:ignore ST1012 it is no failure, and is named as fs.SkipDir is
var SkipOp = errors.New("operation skipped by the hook")

// ShortWrite lets only the first N bytes of a write happen. The write fails
// with Err, or with io.ErrShortWrite where Err is nil.
type ShortWrite struct {
	N   int
	Err error
}

func (s *ShortWrite) Error() string { return fmt.Sprintf("%v after %d bytes", s.Unwrap(), s.N) }

func (s *ShortWrite) Unwrap() error {
	if s.Err == nil {
		return io.ErrShortWrite
	}
	return s.Err
}

// FailedSync makes a sync fail with Err as Linux does it: the pages are marked
// clean, so reads and a restarted process still see the bytes, but no later
// sync writes them. What reached the medium before the failure is drawn by
// Reached (its zero value: nothing). Files other than those of Mem just fail.
type FailedSync struct {
	Err     error
	Reached Variant
}

func (s *FailedSync) Error() string { return fmt.Sprintf("failed sync: %v", s.Err) }

func (s *FailedSync) Unwrap() error { return s.Err }

// allowedWrite turns a hook's verdict on a write into the bytes to write and
// the error to return after them. skip means: report success, write nothing.
func allowedWrite(p []byte, verdict error) (part []byte, skip bool, err error) {
	var short *ShortWrite
	switch {
	case verdict == nil:
		return p, false, nil
	case errors.Is(verdict, SkipOp):
		return nil, true, nil
	case errors.As(verdict, &short):
		return p[:min(max(short.N, 0), len(p))], false, short
	}
	return nil, false, verdict
}
