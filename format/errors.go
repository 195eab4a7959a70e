package format

import (
	"errors"
	"fmt"
)

// Classes of failure. A [CorruptError] matches ErrCorrupt through errors.Is.
var (
	// ErrCorrupt: committed bytes differ from what was written.
	ErrCorrupt = errors.New("corrupt")
	// ErrNotCtxdb: the file does not begin with a ctxdb superblock.
	ErrNotCtxdb = errors.New("not a ctxdb file")
	// ErrVersion: the file was written by a newer program.
	ErrVersion = errors.New("newer format version")
	// ErrTooLarge: a limit of the format is exceeded; the message names it.
	ErrTooLarge = errors.New("too large")
)

// CorruptError says which bytes of the file are damaged.
type CorruptError struct {
	Path   string // of the file, where known
	Region string // what lies there: "superblock", "frame header", "block" ...
	Offset int64  // absolute, in bytes; -1: what is missing lies nowhere in this file
	Detail string // what was expected
}

func (e *CorruptError) Error() string {
	where := ""
	if e.Path != "" {
		where = e.Path + ": "
	}
	if e.Offset < 0 {
		return where + e.Detail
	}
	return fmt.Sprintf("%scorrupt %s at offset %d: %s", where, e.Region, e.Offset, e.Detail)
}

// Is reports that every CorruptError is an ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Corruptf makes the error for damaged bytes at an absolute offset.
func Corruptf(region string, offset int64, detail string, args ...any) error {
	return &CorruptError{Region: region, Offset: offset, Detail: fmt.Sprintf(detail, args...)}
}

// tooLarge names the limit that a value exceeds.
func tooLarge(what string, got, limit int64) error {
	return fmt.Errorf("%w: %s is %d, the limit is %d", ErrTooLarge, what, got, limit)
}
