package rank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"

	"ctxdb/engine/lex"
)

// Reader serves an encoded part where it lies. Columns and buckets, about 20
// bytes a turn and 1 byte a term, are kept in memory; directory and postings are
// read when they are asked for. It may be used by many goroutines. Every length
// and seat is checked before it is used, but only a checksum of the caller's can
// tell changed bytes from others.
type Reader struct {
	r       io.ReaderAt
	h       header
	columns *Columns
	buckets []byte
}

// Open reads the head of an encoded part of size bytes. r stays the caller's
// and must outlive the Reader; it is called with offsets from the start of the
// part, from many goroutines at once. Where it has a method Doubt, that is called
// when what r gave is no part's, before the same is read once more.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	if size < headerSize {
		return nil, corrupt(0, "%d bytes", size)
	}
	p := &Reader{r: r}
	first := make([]byte, headerSize)
	if err := p.read(first, 0); err != nil {
		return nil, err
	}
	var err error
	if p.h, err = parseHeader(first, size); err != nil {
		return nil, err
	}
	if p.h.directoryAt() > math.MaxInt/4 { // columns take up to twice as much in memory
		return nil, corrupt(40, "lengths that this machine can't address")
	}
	head := make([]byte, p.h.directoryAt()-headerSize)
	if err := p.read(head, headerSize); err != nil {
		return nil, err
	}
	if p.columns, err = parseColumns(&p.h, head); err != nil {
		return nil, err
	}
	p.buckets = append([]byte(nil), head[p.h.bucketsAt()-headerSize:]...)
	return p, p.checkBuckets()
}

func (p *Reader) read(b []byte, at int64) error {
	n, err := p.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading %d bytes of an index part at %d: %w", len(b), at, err)
}

// bucket is where a bucket's entries and postings begin.
func (p *Reader) bucket(i int) (directory, postings int64) {
	b := p.buckets[i*bucketSize:]
	return int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
}

func (p *Reader) checkBuckets() error {
	d, q := int64(0), int64(0)
	n := 1 << p.h.bucketBits
	for i := range n + 1 {
		nd, nq := p.bucket(i)
		if nd < d || nq < q || i == 0 && nd+nq != 0 {
			return corrupt(p.h.bucketsAt()+int64(i)*bucketSize, "bucket before the one before it")
		}
		d, q = nd, nq
	}
	if d != int64(p.h.directoryLength) || q != int64(p.h.postingsLength) {
		return corrupt(p.h.bucketsAt()+int64(n)*bucketSize, "buckets end early")
	}
	return nil
}

// Columns is kept in memory and never fails.
func (p *Reader) Columns() (*Columns, error) { return p.columns, nil }

// Count reads one bucket of the directory.
func (p *Reader) Count(t lex.Term) (int, error) {
	e, ok, err := p.find(t)
	if !ok || err != nil {
		return 0, err
	}
	return e.count, nil
}

// Postings reads one bucket of the directory, and the term's postings.
func (p *Reader) Postings(dst []Posting, t lex.Term) ([]Posting, error) {
	e, ok, err := p.find(t)
	if !ok || err != nil {
		return dst, err
	}
	return p.postingsOf(dst, &e)
}

// postingsOf appends those of an entry that find gave.
func (p *Reader) postingsOf(dst []Posting, e *entry) ([]Posting, error) {
	if e.count == 1 {
		return append(dst, e.single), nil
	}
	out, err := p.decodePostings(dst, e)
	if p.doubts(err) {
		return p.decodePostings(dst, e)
	}
	return out, err
}

func (p *Reader) decodePostings(dst []Posting, e *entry) ([]Posting, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	b := s.room(e.length)
	at := p.h.postingsAt() + e.at
	if err := p.read(b, at); err != nil {
		return dst, err
	}
	return appendDecoded(dst, b, e.count, p.h.turns, at)
}

// doubts reports whether an error says that bytes are not those of a part, and
// they came from who may have verified them long ago. It verifies them anew then,
// when they are read again, and says where the damage is.
func (p *Reader) doubts(err error) bool {
	if err == nil || !errors.Is(err, ErrCorrupt) {
		return false
	}
	d, may := p.r.(interface{ Doubt() })
	if may {
		d.Doubt()
	}
	return may
}

// Terms reads the directory a bucket at a time.
func (p *Reader) Terms() iter.Seq2[lex.Term, error] {
	return func(yield func(lex.Term, error) bool) {
		for i := range 1 << p.h.bucketBits {
			var terms []lex.Term
			err := p.entries(i, func(e entry) bool {
				terms = append(terms, lex.Term(uint64(i)<<p.h.restBits()|e.rest))
				return true
			})
			for _, t := range terms {
				if !yield(t, nil) {
					return
				}
			}
			if err != nil {
				yield(0, err)
				return
			}
		}
	}
}

// scratch is memory for what is read and forgotten at once.
type scratch struct{ b []byte }

func (s *scratch) room(n int) []byte {
	if cap(s.b) < n {
		s.b = make([]byte, n+n/4)
	}
	return s.b[:n]
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}
