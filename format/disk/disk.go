package disk

import (
	"errors"
	"io"
	"os"
)

var (
	// ErrWouldBlock is returned by TryLock when the exclusive lock is held by
	// another process or by another handle of this one.
	ErrWouldBlock = errors.New("file is locked elsewhere")

	// ErrReplaced is returned by Check when the open file is no longer the
	// file of its path: it was removed, or another one stands in its place.
	ErrReplaced = errors.New("file was removed or replaced")

	// ErrCrashed is returned by every handle that was open when Mem.Restart
	// ended its process.
	ErrCrashed = errors.New("handle did not survive the crash")
)

// FileID is the device and inode behind a handle. Two handles with equal IDs
// reach the same bytes, through whatever names. It is comparable, and means
// something only while a handle of the file is open.
type FileID struct {
	Device uint64
	Inode  uint64
}

// File is an open file. All methods may be called concurrently. Offsets and
// sizes are in bytes. Errors wrap those of the system, so that errors.Is works
// with the fs package's sentinels and with errno values.
type File interface {
	// ReadAt follows io.ReaderAt: fewer bytes than asked come with io.EOF.
	io.ReaderAt
	// WriteAt follows io.WriterAt: fewer bytes than given come with an error,
	// io.ErrShortWrite where the system named none. The bytes are in the page
	// cache on return, and durable only after Sync.
	io.WriterAt

	// Size returns the current length, unsynced growth included.
	Size() (int64, error)

	// Sync returns when every byte written so far is durable, the file's size
	// included, but not its directory entry (FS.SyncDir). After an error
	// nothing is known about any byte written since the last success, and
	// calling it again does not help: see the package comment.
	Sync() error

	// Truncate sets the length; a longer file reads as zeros at its end.
	Truncate(size int64) error

	// TryLock takes the exclusive advisory lock on the open file and never
	// waits. It returns ErrWouldBlock when the lock is held by another process
	// or by another handle of this one, and nil when this handle holds it.
	TryLock() error

	// Unlock gives the lock back; without the lock it does nothing.
	Unlock() error

	// LockedByOther reports whether somebody else holds the exclusive lock
	// now. On a handle that holds the lock it is false.
	LockedByOther() (bool, error)

	// Check returns ErrReplaced when the open file has no name left, or when
	// the path it was opened by leads to another file or to none. It is meant
	// to be called before each commit.
	Check() error

	// ID returns the device and inode behind the handle.
	ID() (FileID, error)

	// Close unlocks, then closes. It makes nothing durable. A second Close,
	// and any other call after the first, returns fs.ErrClosed.
	Close() error
}

// Mapper is offered by files whose bytes can be mapped into memory. OSFile
// returns the file behind the handle, which stays owned by it: do not close it.
type Mapper interface {
	OSFile() *os.File
}

// FS reaches files by name. All methods may be called concurrently.
type FS interface {
	// Open opens an existing regular file and never creates one. It follows
	// symbolic links; a directory is an error. A file that is absent or
	// forbidden gives an error that is fs.ErrNotExist or fs.ErrPermission.
	Open(path string, write bool) (File, error)

	// CreateTemp makes a new empty file of mode 0600 beside path, open for
	// writing, and returns its name too. It is the first step of creation:
	// CreateTemp, write, Sync, Close, Link, Remove, SyncDir, Open. The handle
	// belongs to the temporary name, so its Check fails once that is removed.
	CreateTemp(path string) (File, string, error)

	// Link gives the file tmp the name path as well. When path exists the
	// error is fs.ErrExist and nothing changed. Where hard links are not to be
	// had, tmp is renamed instead, only if the system can refuse to replace
	// path in the same step; then Remove(tmp) finds nothing (fs.ErrNotExist).
	Link(tmp, path string) error

	// Remove removes a name; the file lives on while a handle is open.
	Remove(path string) error

	// SyncDir makes the directory entry of path durable, be it present or
	// removed. It does not follow a link at path: Resolve it first.
	SyncDir(path string) error

	// Resolve follows symbolic links to the final name, which need not exist
	// yet: a dangling link gives its target. The directory must exist.
	Resolve(path string) (string, error)
}
