package segment

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

// RangeError says which turns can't be read.
type RangeError struct {
	FirstID uint64
	Count   uint64
	Source  bool  // only the sources are lost; the turns themselves came
	Err     error // why
}

func (e *RangeError) Error() string {
	what := "turns"
	if e.Source {
		what = "sources of turns"
	}
	return fmt.Sprintf("%s %d to %d: %v", what, e.FirstID, e.FirstID+e.Count-1, e.Err)
}

func (e *RangeError) Unwrap() error { return e.Err }

// All goes through the turns in order, sources included, in memory of a few
// blocks and one turn. Each turn is checked and belongs to the caller.
//
// Behind damage it continues: turns that are lost come as a [RangeError] with an
// empty turn, a lost source as a RangeError beside its turn. Turns and errors
// together cover every id once. An error of another kind is the last.
// All needs no index: it finds blocks by their headers, even where header,
// footer or index pages are damaged.
func (s *Segment) All(ctx context.Context) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		sc, err := s.newScan()
		if err != nil {
			yield(Turn{}, err)
			return
		}
		defer s.Release()
		for {
			t, ok, err := sc.next(ctx)
			if !ok && err == nil || !yield(t, err) {
				return
			}
			var lost *RangeError
			if err != nil && !errors.As(err, &lost) {
				return
			}
		}
	}
}

// scan puts turns together from the two streams.
type scan struct {
	s       *Segment
	content pieces
	source  pieces
	turn    uint64 // the next one, relative
	buffer  []byte // content
	encoded []byte // source
}

// newScan takes a reference, which the caller releases.
func (s *Segment) newScan() (*scan, error) {
	l, err := s.enter()
	if errors.Is(err, format.ErrCorrupt) {
		l = nil // go by the blocks alone
		if !s.Acquire() {
			return nil, s.errClosed()
		}
		if err = s.prepare(); err != nil {
			s.Release()
		}
	}
	if err != nil {
		return nil, err
	}
	decoder := sync.OnceValues(func() (*zstd.Decoder, error) { return s.firstDictionary() })
	end := s.length
	if l != nil {
		end = l.blocksEnd
	}
	sc := &scan{s: s}
	split, err := s.sourceStart(l, end)
	if err != nil {
		s.Release()
		return nil, err
	}
	sc.content = pieces{w: s.newWalker(format.SegmentHeaderSize, split, decoder), stream: format.StreamContent}
	sc.source = pieces{w: s.newWalker(split, end, decoder), stream: format.StreamSource}
	return sc, nil
}

// sourceStart is where the source blocks begin: by the index, else by looking.
func (s *Segment) sourceStart(l *layout, end int64) (int64, error) {
	if l != nil && l.source.entries == 0 {
		return end, nil
	}
	if l != nil {
		page := make([]byte, format.IndexPageSize)
		if l.source.load(page, 0) == nil {
			if at := format.BlockEntryAt(page, 0).Offset; at >= format.SegmentHeaderSize && at <= end {
				return at, nil
			}
		}
	}
	w := s.newWalker(format.SegmentHeaderSize, end, func() (*zstd.Decoder, error) { return nil, errNotNeeded })
	for w.at < w.end && !w.done {
		offset := w.at
		h, _, err := w.block(offset)
		switch {
		case err == nil && h.Stream == format.StreamSource:
			return offset, nil
		case err == nil:
			w.at += format.BlockSize(int(h.Stored))
		case errors.Is(err, format.ErrCorrupt):
			err = w.resync()
			fallthrough
		default:
			if err != nil {
				return 0, err
			}
		}
	}
	return end, nil
}

var errNotNeeded = errors.New("plaintext is not needed")

// firstDictionary makes the decoder from the block behind the header.
func (s *Segment) firstDictionary() (*zstd.Decoder, error) {
	var head [format.BlockHeaderSize]byte
	if err := s.read(head[:], format.SegmentHeaderSize); err != nil {
		return nil, err
	}
	h, ok := format.PeekBlock(head[:])
	size := int64(format.BlockHeaderSize) + int64(h.Stored)
	if !ok || size > s.length-format.SegmentHeaderSize {
		return nil, format.Corruptf("block", s.offset+format.SegmentHeaderSize, "no dictionary")
	}
	b := make([]byte, size)
	if err := s.read(b, format.SegmentHeaderSize); err != nil {
		return nil, err
	}
	d, _, err := s.decodeDictionary(b, format.SegmentHeaderSize)
	return d, err
}

// next returns the next turn or range of lost turns. ok is false where there is
// no turn beside an error; both false and nil: the end.
func (c *scan) next(ctx context.Context) (t Turn, ok bool, err error) {
	if c.turn >= c.s.entry.Turns {
		return Turn{}, false, nil
	}
	for {
		p, ok, err := c.content.next(ctx)
		if err != nil {
			return Turn{}, false, c.s.located(err)
		}
		if !ok {
			return Turn{}, false, c.missing(c.s.entry.Turns)
		}
		if p.Part != 0 || uint64(p.Turn) < c.turn || uint64(p.Turn) >= c.s.entry.Turns {
			continue // what is left of a turn whose beginning is lost
		}
		c.content.unread(p)
		if uint64(p.Turn) > c.turn {
			return Turn{}, false, c.missing(uint64(p.Turn))
		}
		return c.assemble(ctx)
	}
}

// missing gives up the turns from the next one to below end.
func (c *scan) missing(end uint64) error {
	err := &RangeError{FirstID: c.s.entry.FirstID + c.turn, Count: end - c.turn, Err: c.content.lost()}
	c.turn = end
	return err
}

// assemble puts the next turn together, whose first piece is there.
func (c *scan) assemble(ctx context.Context) (Turn, bool, error) {
	p, _, err := c.content.next(ctx)
	if err != nil {
		return Turn{}, false, err
	}
	c.content.damage = nil // it was before this turn, and told
	at := c.content.sc.at
	meta := slices.Clone(p.Meta)
	n, ok := contentLength(meta)
	c.buffer = append(c.buffer[:0], p.Data...)
	for part := uint32(1); ok && len(c.buffer) < n; part++ {
		q, more, err := c.content.next(ctx)
		if err != nil {
			return Turn{}, false, c.s.located(err)
		}
		if !more || q.Turn != p.Turn || q.Part != part || len(q.Data) == 0 {
			if more {
				c.content.unread(q)
			}
			why := c.content.damage
			err := c.missing(c.turn + 1)
			c.content.damage = why // the same blocks may have held turns behind this one
			return Turn{}, false, err
		}
		c.buffer = append(c.buffer, q.Data...)
	}
	t := Turn{ID: c.s.entry.FirstID + c.turn, Meta: meta, Content: slices.Clone(c.buffer)}
	if !ok || len(t.Content) != n || !intact(meta, t.Content) {
		err = format.Corruptf("turn record", at, "turn %d differs from its sum", t.ID)
	} else {
		t.Record, err = decodeRecord(meta, at)
	}
	if err != nil {
		c.content.damage = err
		return Turn{}, false, c.missing(c.turn + 1)
	}
	c.turn++
	return c.withSource(ctx, t)
}

// withSource adds the source of a turn that has one.
func (c *scan) withSource(ctx context.Context, t Turn) (Turn, bool, error) {
	if !t.Record.HasSource {
		return t, true, nil
	}
	turn := uint32(c.turn - 1)
	c.encoded = c.encoded[:0]
	for part := uint32(0); ; {
		p, ok, err := c.source.next(ctx)
		if err != nil {
			return Turn{}, false, c.s.located(err)
		}
		if ok && p.Turn < turn {
			continue
		}
		if !ok || p.Turn > turn || p.Part != part {
			if ok {
				c.source.unread(p)
			}
			why := c.source.damage
			if part == 0 {
				err = c.source.lost()
				c.source.damage = why // the same blocks may have held sources behind this one
				return t, true, c.lostSource(t.ID, err)
			}
			if why != nil {
				return t, true, c.lostSource(t.ID, c.s.located(why))
			}
			break
		}
		if part == 0 {
			c.source.damage = nil // it was before this source, and told
		}
		c.encoded = append(c.encoded, p.Data...)
		if part++; len(p.Data) < format.SourcePartSize {
			break
		}
	}
	source, err := decodeSource([]byte{}, c.encoded, t.Content, &t.Record, c.source.sc.at)
	if err != nil {
		return t, true, c.lostSource(t.ID, c.s.located(err))
	}
	t.Source = source
	return t, true, nil
}

func (c *scan) lostSource(id uint64, err error) error {
	return &RangeError{FirstID: id, Count: 1, Source: true, Err: err}
}
