package engine

import (
	"bytes"
	"context"
	"errors"
	"io"

	"ctxdb/format"
	"ctxdb/format/disk"
)

const (
	wreckChunk = 4 << 20 // bytes that a scan holds
	wreckAhead = 8 << 10 // bytes behind a place that a scan sees at least, unless the file ends
	wreckBlock = 4 << 10 // a failing disk is read in pieces of this
)

// wreck is the file to salvage from, read only. What the disk fails to give
// reads as zeros. Offsets are those that the file's own structures have: they
// differ from the real ones by base where something was put in front of the file.
type wreck struct {
	disk.File
	path       string
	base       int64
	size       int64 // as it was at first
	unreadable int64
	scanned    int64 // bytes that were looked at, however often
	progress   func(done, total int64)
}

func newWreck(f disk.File, path string) (*wreck, error) {
	size, err := f.Size()
	return &wreck{File: f, path: path, size: size}, err
}

// ReadAt follows io.ReaderAt, with zeros where the disk fails.
func (w *wreck) ReadAt(p []byte, off int64) (n int, err error) {
	off += w.base
	if off < 0 { // the front was cut off
		n = int(min(int64(len(p)), -off))
		clear(p[:n])
		off = 0
	}
	got, err := w.File.ReadAt(p[n:], off)
	if err == nil || errors.Is(err, io.EOF) {
		return n + got, err
	}
	for n < len(p) {
		piece := p[n:min(n+wreckBlock-int(off%wreckBlock), len(p))]
		got, err := w.File.ReadAt(piece, off)
		if err != nil && errors.Is(err, io.EOF) {
			return n + got, err
		}
		if err != nil {
			clear(piece)
			w.unreadable += int64(len(piece))
		}
		n, off = n+len(piece), off+int64(len(piece))
	}
	return n, nil
}

// Size is the length of the file as its structures count it.
func (w *wreck) Size() (int64, error) { return w.size - w.base, nil }

// scan shows the whole file in chunks. b begins at offset off and holds n bytes
// to look at, and more behind them for what begins there.
func (w *wreck) scan(ctx context.Context, look func(b []byte, off int64, n int)) error {
	size, _ := w.Size()
	buffer := make([]byte, min(wreckChunk+wreckAhead, max(size, 0)))
	for off := int64(0); off < size; off += wreckChunk {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		b := buffer[:min(int64(len(buffer)), size-off)]
		got, err := w.ReadAt(b, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		look(b[:got], off, min(got, wreckChunk))
		w.scanned = max(w.scanned, w.base+off+int64(min(got, wreckChunk)))
		w.progress(off+int64(got), size)
		if got < len(b) {
			break // it became shorter
		}
	}
	return nil
}

// bytes reads up to n bytes at an offset.
func (w *wreck) bytes(off, n int64) []byte {
	size, _ := w.Size()
	if off < 0 || off >= size {
		return nil
	}
	b := make([]byte, min(n, size-off))
	got, _ := w.ReadAt(b, off)
	return b[:got]
}

// ours begins the magic of every structure but the superblock.
var ours = []byte("ctx")

// eachMagic calls f for each place in b[:n] where a magic may begin.
func eachMagic(b []byte, n int, f func(i int)) {
	for i := 0; i < n; {
		k := bytes.Index(b[i:], ours)
		if k < 0 || i+k >= n {
			return
		}
		i += k
		if len(b)-i >= 8 && b[i+7] == '\n' {
			f(i)
		}
		i++
	}
}

var superMagic = (&format.Superblock{}).Encode(format.SlotA)[:8]

// eachSuper calls f for each place in b[:n] where a superblock may begin.
func eachSuper(b []byte, n int, f func(i int)) {
	for i := 0; i < n; i++ {
		k := bytes.Index(b[i:], superMagic)
		if k < 0 || i+k >= n {
			return
		}
		i += k
		f(i)
	}
}
