package disk

import (
	"errors"
	"fmt"
	"io"
)

// zeroChunk is the most that WriteZeros writes in one call: large enough to
// cost few calls, small enough that a commit waiting for the device in between
// does not wait long.
const zeroChunk = 256 << 10

// zeros is only ever read.
var zeros [zeroChunk]byte

// WriteZeros writes n zero bytes at off, so that the space behind them is
// allocated and later overwriting needs none. It does not sync.
func WriteZeros(f File, off, n int64) error {
	if off < 0 || n < 0 {
		return fmt.Errorf("write %d zeros at offset %d: negative", n, off)
	}
	for n > 0 {
		step := min(n, zeroChunk)
		if err := WriteFull(f, zeros[:step], off); err != nil {
			return err
		}
		off, n = off+step, n-step
	}
	return nil
}

// WriteFull writes all of p at off. Fewer bytes are an error even where the
// writer returned none: io.ErrShortWrite.
func WriteFull(w io.WriterAt, p []byte, off int64) error {
	n, err := w.WriteAt(p, off)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write %d bytes at offset %d (%d written): %w", len(p), off, n, err)
	}
	return nil
}

// ReadFull reads exactly len(p) bytes at off. Where the file ends before them,
// the error is io.ErrUnexpectedEOF, and p holds what there was.
func ReadFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil // io.ReaderAt may say io.EOF with the last byte
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at offset %d (%d read): %w", len(p), off, n, err)
}
