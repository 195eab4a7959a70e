package transcript

import (
	"bytes"
	"fmt"
	"io"
)

type frameKind uint8

const (
	frameRecord  frameKind = iota // one JSON value
	frameBad                      // bytes that are no JSON value, kept
	frameBlank                    // a long stretch of white space, kept
	frameDropped                  // a part that no turn holds
	frameTail                     // the end of the input
)

// frame is one step of the input. Its memory is its own.
type frame struct {
	kind   frameKind
	source []byte // gap, if it is not the usual one, and record
	record []byte // the end of source
	hasGap bool   // source begins with its gap
	why    LeftOut
	end    int64 // offset behind the record, in the input
}

const (
	chunkBytes  = 64 << 10
	maxGapBytes = 1 << 20 // white space beyond it becomes a frame of its own
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// framer cuts an input into frames with one growing buffer.
type framer struct {
	src      io.Reader
	buf      []byte // invariant: buf[pos:] is what was read and not yet framed
	pos      int
	base     int64 // offset of buf[0] in the input
	line     int   // of buf[pos]
	newline  int64 // offset of the first newline at or behind buf[pos], if it is not before
	searched int64 // no newline between buf[pos] and this offset, if it is not before
	readErr  error // io.EOF, or what stopped src
	maxBytes int
	gap      []byte // what stood before the next record
	begun    bool   // a record has been framed
	glued    func(value) bool
}

func newFramer(src io.Reader, maxBytes int) *framer {
	return &framer{src: src, line: 1, newline: -1, maxBytes: maxBytes}
}

func (f *framer) offset() int64 { return f.base + int64(f.pos) }
func (f *framer) ahead() []byte { return f.buf[f.pos:] }

// fill reads once more, behind what is there. It reports whether bytes were added.
func (f *framer) fill() bool {
	if f.readErr != nil {
		return false
	}
	if cap(f.buf)-len(f.buf) < chunkBytes/4 {
		f.makeRoom()
	}
	for range 100 {
		n, err := f.src.Read(f.buf[len(f.buf):cap(f.buf)])
		f.buf = f.buf[:len(f.buf)+n]
		f.readErr = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	f.readErr = io.ErrNoProgress
	return false
}

func (f *framer) makeRoom() {
	old := f.ahead()
	to := f.buf[:0]
	if len(old) > cap(f.buf)/2 || cap(f.buf) < chunkBytes {
		to = make([]byte, 0, max(chunkBytes, 2*len(old)+chunkBytes/4))
	}
	f.base += int64(f.pos)
	f.buf, f.pos = append(to, old...), 0
}

// advance leaves n bytes behind and counts their lines.
func (f *framer) advance(n int) {
	f.line += bytes.Count(f.buf[f.pos:f.pos+n], []byte{'\n'})
	f.pos += n
}

// next returns the next frame. The tail comes again and again.
func (f *framer) next() (frame, error) {
	blank, err := f.takeGap()
	switch {
	case err != nil:
		return frame{}, err
	case blank:
		return f.blank(), nil
	case len(f.ahead()) == 0:
		return f.tail(), nil
	case f.ahead()[0] == 0:
		return f.nulRun()
	}
	return f.record()
}

func (f *framer) failed() error {
	return fmt.Errorf("transcript: read at offset %d: %w", f.base+int64(len(f.buf)), f.readErr)
}

// takeGap moves white space and byte order marks from the buffer to f.gap, until a
// record begins, the input ends, or the gap is too long (blank).
func (f *framer) takeGap() (blank bool, err error) {
	for {
		b := f.ahead()
		n := skipSpace(b, 0)
		if bytes.HasPrefix(b[n:], byteOrderMark) {
			n += len(byteOrderMark)
		}
		f.gap = append(f.gap, b[:n]...)
		f.advance(n)
		rest := b[n:]
		switch {
		case len(f.gap) > maxGapBytes:
			return true, nil
		case n > 0 && len(rest) > 0, len(rest) < 3 && bytes.HasPrefix(byteOrderMark, rest) && f.fill():
			continue
		case len(rest) == 0 && f.readErr != io.EOF:
			return false, f.failed()
		}
		return false, nil
	}
}

// blank frames the first MiB of a longer gap; cut there, it stays the same as the file grows.
func (f *framer) blank() frame {
	out := frame{kind: frameBlank, source: bytes.Clone(f.gap[:maxGapBytes]), hasGap: true}
	out.record = out.source
	f.gap = append(f.gap[:0], f.gap[maxGapBytes:]...)
	out.end = f.offset() - int64(len(f.gap))
	f.begun = true
	return out
}

// tail is the end. Its source is never nil: an input without a final newline ends with
// an empty tail, which is not the usual one.
func (f *framer) tail() frame {
	return frame{kind: frameTail, source: append([]byte{}, f.gap...), end: f.offset()}
}

// take frames the next n bytes together with the gap before them.
func (f *framer) take(kind frameKind, n int) frame {
	usual := string(f.gap) == "\n"
	if !f.begun {
		usual = len(f.gap) == 0
	}
	out := frame{kind: kind, hasGap: !usual}
	if usual {
		f.gap = f.gap[:0]
	}
	out.source = make([]byte, 0, len(f.gap)+n)
	out.source = append(append(out.source, f.gap...), f.ahead()[:n]...)
	out.record = out.source[len(f.gap):]
	out.why = LeftOut{Line: f.line, Offset: f.offset(), Bytes: int64(n), Kept: true}
	f.gap, f.begun = f.gap[:0], true
	f.advance(n)
	out.end = f.offset()
	return out
}

func (f *framer) takeBad(n int, reason string) frame {
	out := f.take(frameBad, n)
	out.why.Reason = reason
	return out
}

// lineEnd tells how much of a line is there.
type lineEnd uint8

const (
	lineWhole   lineEnd = iota // up to its newline
	lineOpen                   // up to the end of the input
	lineTooLong                // one byte more than a record may have
)

// restOfLine returns the rest of the line without its newline. How it ends depends
// on the input alone, not on how much was read so far.
func (f *framer) restOfLine() ([]byte, lineEnd, error) {
	limit := max(0, f.maxBytes-len(f.gap))
	for f.newline < f.offset() {
		b := f.ahead()
		seen := int(max(f.searched, f.offset()) - f.offset())
		if i := bytes.IndexByte(b[seen:], '\n'); i >= 0 {
			f.newline = f.offset() + int64(seen+i)
			break
		}
		f.searched = f.offset() + int64(len(b))
		switch {
		case len(b) > limit:
			return b[:limit+1], lineTooLong, nil
		case f.fill():
		case f.readErr != io.EOF:
			return nil, lineOpen, f.failed()
		default:
			return b, lineOpen, nil
		}
	}
	line := f.buf[f.pos : f.newline-f.base]
	if len(line) > limit {
		return line[:limit+1], lineTooLong, nil
	}
	return line, lineWhole, nil
}

func (f *framer) record() (frame, error) {
	line, end, err := f.restOfLine()
	if err != nil {
		return frame{}, err
	}
	n, err := scanValue(line)
	if err == nil && end == lineOpen && n == len(line) && isScalar(line) {
		err = errCut // more digits may follow
	}
	switch {
	case end == lineTooLong && (err != nil || n == len(line)):
		return f.dropTooLong(func(c byte) bool { return c == '\n' })
	case err != nil:
		return f.unreadable(line, end == lineWhole, err)
	}
	return f.take(frameRecord, n), nil
}

func isScalar(b []byte) bool { return b[0] != '{' && b[0] != '[' && b[0] != '"' }
