package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxResyncs is how often a whole record is looked for behind a cut one.
const maxResyncs = 64

// dropRest leaves out everything up to the end of the input.
func (f *framer) dropRest(reason string) frame {
	out := frame{kind: frameDropped, why: LeftOut{
		Line: f.line, Offset: f.offset(), Bytes: int64(len(f.ahead())), Reason: reason,
	}}
	f.advance(len(f.ahead()))
	out.end = f.offset()
	return out
}

// dropTooLong leaves out the line and the gap behind it; the gap before it
// then stands before the next record.
func (f *framer) dropTooLong(stop func(byte) bool) (frame, error) {
	out := frame{kind: frameDropped, why: LeftOut{
		Line: f.line, Offset: f.offset(),
		Reason: fmt.Sprintf("the line exceeds the limit of %d bytes a record", f.maxBytes),
	}}
	inGap := false
	for {
		b := f.ahead()
		n := 0
		for n < len(b) && !inGap {
			if inGap = stop(b[n]); !inGap {
				n++
			}
		}
		if inGap {
			n = skipSpace(b, n)
		}
		f.advance(n)
		if n < len(b) {
			break
		}
		if !f.fill() {
			if f.readErr != io.EOF {
				return frame{}, f.failed()
			}
			break
		}
	}
	out.end = f.offset()
	out.why.Bytes = out.end - out.why.Offset
	return out, nil
}

// nulRun frames a run of NUL bytes, which a crash leaves where data was not yet written.
func (f *framer) nulRun() (frame, error) {
	n := 0
	for {
		b := f.ahead()
		for n < len(b) && b[n] == 0 {
			n++
		}
		switch {
		case len(f.gap)+n > f.maxBytes:
			return f.dropTooLong(func(c byte) bool { return c != 0 })
		case n < len(b):
			return f.takeBad(n, fmt.Sprintf("%d NUL bytes", n)), nil
		case !f.fill():
			if f.readErr != io.EOF {
				return frame{}, f.failed()
			}
			return f.dropRest(fmt.Sprintf("%d NUL bytes at the end", n)), nil
		}
	}
}

// unreadable frames what is no JSON: up to a whole record glued to it, or the whole
// line. A line without an end is not judged yet: more of it would be read otherwise.
func (f *framer) unreadable(line []byte, whole bool, cause error) (frame, error) {
	switch {
	case !whole && errors.Is(cause, errCut):
		return f.dropRest("the last record is cut off"), nil
	case !whole:
		return f.dropRest(fmt.Sprintf("the last line has no end and is %v", cause)), nil
	}
	n := f.gluedAt(line)
	if n < 0 {
		n = len(bytes.TrimRight(line, " \t\r"))
	}
	return f.takeBad(n, cause.Error()), nil
}

// gluedAt returns where in an unreadable line a whole record begins, or -1. Its work
// is bounded by a few passes over the line.
func (f *framer) gluedAt(line []byte) int {
	if f.glued == nil {
		return -1
	}
	budget := 4 * len(line)
	at := 1
	for range maxResyncs {
		i := bytes.Index(line[min(at, len(line)):], []byte(`{"`))
		if i < 0 || budget <= 0 {
			break
		}
		at += i
		n, err := scanValue(line[at:])
		if err == nil && f.glued(line[at:at+n]) {
			return len(bytes.TrimRight(line[:at], " \t\r"))
		}
		budget -= n
		at++
	}
	return -1
}
