package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// ErrTruncated: the file ends before bytes that were committed. The message
// names the offset.
var ErrTruncated = errors.New("file is truncated")

// readAhead is from how many bytes on a read is taken for part of a walk.
const readAhead = 64 << 10

// region is a byte range of a file, read through a mapping where there is one,
// and the references that keep the mapping.
type region struct {
	file   disk.File
	path   string
	offset int64 // absolute
	length int64
	noMap  bool

	refs   atomic.Int64 // invariant: never grows from 0
	closed atomic.Bool
	mapped atomic.Pointer[mapping] // invariant: unchanged from tried to the last release
	mu     sync.Mutex
	tried  bool // guarded by mu: mapping was tried, with or without success
}

func (r *region) init(f disk.File, path string, offset, length int64, noMap bool) {
	r.file, r.path, r.offset, r.length, r.noMap = f, path, offset, length, noMap
	r.refs.Store(1)
}

// Acquire takes a reference, under which reads work. It is false once the last
// one was given up; then nothing may be read any more.
func (r *region) Acquire() bool {
	for {
		n := r.refs.Load()
		if n <= 0 {
			return false
		}
		if r.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives up a reference that Acquire took. The last one unmaps.
func (r *region) Release() {
	n := r.refs.Add(-1)
	if n < 0 {
		panic("segment: released more often than acquired")
	}
	if n == 0 {
		if m := r.mapped.Swap(nil); m != nil {
			_ = m.unmap() // fails only for what was not mapped
		}
	}
}

// Close gives up the reference of who opened it. Reads that hold one go on.
// Closing twice does nothing. The file stays open: it is the caller's.
func (r *region) Close() {
	if r.closed.CompareAndSwap(false, true) {
		r.Release()
	}
}

// Closed is an error that wraps fs.ErrClosed once Close was called; nil before.
func (r *region) Closed() error {
	if !r.closed.Load() {
		return nil
	}
	return r.errClosed()
}

func (r *region) errClosed() error {
	return fmt.Errorf("%s: segment at offset %d: %w", r.path, r.offset, fs.ErrClosed)
}

// checkSize holds the file's size against the end of the region.
func (r *region) checkSize() error {
	size, err := r.file.Size()
	if err != nil {
		return fmt.Errorf("%s: size: %w", r.path, err)
	}
	if r.offset < 0 || r.length < 0 || r.length > format.MaxFile || r.offset > format.MaxFile {
		return r.corrupt("segment entry", 0, "%d bytes at %d", r.length, r.offset)
	}
	if size < r.offset+r.length {
		return r.truncated(size)
	}
	return nil
}

func (r *region) truncated(size int64) error {
	return fmt.Errorf("%s: %w at offset %d: %d bytes from offset %d are gone", r.path, ErrTruncated, size, r.offset+r.length-max(size, r.offset), max(size, r.offset))
}

// prepare checks the size and maps, once.
func (r *region) prepare() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried {
		return nil
	}
	if err := r.checkSize(); err != nil {
		return err
	}
	r.tried = true
	if r.noMap || r.length == 0 {
		return nil
	}
	if m, err := mapFile(r.file, r.offset, r.length); err == nil {
		r.mapped.Store(m)
	}
	return nil
}

// read copies len(dst) bytes from offset at of the region.
//
// REQUIRES: a reference is held.
func (r *region) read(dst []byte, at int64) error {
	if at < 0 || at > r.length || int64(len(dst)) > r.length-at {
		return r.corrupt("segment", at, "%d bytes at %d of %d are asked for", len(dst), at, r.length)
	}
	if m := r.mapped.Load(); m != nil {
		if len(dst) >= readAhead {
			m.willNeed(int(at), 4*min(len(dst), math.MaxInt/4)) // a walk goes on behind this
		}
		if guardedCopy(dst, m.bytes[at:at+int64(len(dst))]) {
			return nil
		}
	}
	// Without a mapping, or after a fault: a plain read says what is wrong.
	err := disk.ReadFull(r.file, dst, r.offset+at)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if short := r.checkSize(); short != nil {
			return short
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}

// corrupt is the error for damage at offset at of the region.
func (r *region) corrupt(what string, at int64, detail string, args ...any) error {
	return r.located(format.Corruptf(what, r.offset+at, detail, args...))
}

// located adds the path to a CorruptError, and finds out whether what looks
// damaged is a truncation: the last mapped page reads as zeros behind the end.
func (r *region) located(err error) error {
	if err == nil {
		return nil
	}
	return r.locate(err)
}

func (r *region) locate(err error) error {
	var c *format.CorruptError
	if !errors.As(err, &c) {
		return err
	}
	if size, sizeErr := r.file.Size(); sizeErr == nil && size < r.offset+r.length {
		return r.truncated(size)
	}
	if c.Path != "" {
		return err
	}
	d := *c
	d.Path = r.path
	return &d
}
