package transcript

import (
	"io"
	"slices"
)

// Joiner writes the sources of one stream's turns, in their order, so that the file they
// came from comes out: see the package comment. Close must be called at the end.
type Joiner struct {
	w    io.Writer
	any  bool
	tail []byte // nil: the usual one
}

// NewJoiner returns a Joiner that writes to w. It does not buffer.
func NewJoiner(w io.Writer) *Joiner { return &Joiner{w: w} }

// Add writes a turn's source, given with its tags. It keeps no reference to source.
func (j *Joiner) Add(source []byte, tags []string) error {
	if slices.Contains(tags, TagTail) {
		j.tail = append([]byte{}, source...)
		return nil
	}
	j.tail = nil
	if j.any && !slices.Contains(tags, TagGap) {
		if _, err := j.w.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	j.any = true
	_, err := j.w.Write(source)
	return err
}

// Close writes the tail. It does not close the underlying writer.
func (j *Joiner) Close() error {
	tail := j.tail
	if tail == nil && j.any {
		tail = []byte{'\n'}
	}
	_, err := j.w.Write(tail)
	return err
}
