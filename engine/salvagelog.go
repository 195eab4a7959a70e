package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
	"ctxdb/wal"
)

// cycle is the frames of one salt: one use of one log extent.
type cycle struct {
	salt     uint64
	number   uint64     // 0: unknown
	named    bool       // by a superblock
	start    int64      // where its first frame lies; 0: unknown
	firstLSN format.LSN // of its first frame; 0: unknown
	frames   []foundFrame
	promised format.LSN // the highest promise in its frames
	// Frames up to it were acknowledged: their ids were never given again.
	confirmed format.LSN
}

type foundFrame struct {
	at    int64
	lsn   format.LSN
	first uint64
	count uint64
}

// beginCycles makes the cycles that superblocks, headers and trailers name.
func (f *findings) beginCycles() {
	for _, e := range f.edges {
		f.cycle(e.x.Salt).extent(e.x)
	}
	for i := range f.supers {
		for _, x := range f.supers[i].Log {
			c := f.cycle(x.Salt)
			c.extent(x)
			c.named = true
			c.firstLSN = max(c.firstLSN, x.FirstLSN)
		}
	}
}

func (c *cycle) extent(x format.LogExtent) { c.number, c.start = x.Cycle, x.Offset+format.LogEdge }

func (f *findings) cycle(salt uint64) *cycle {
	c := f.cycles[salt]
	if c == nil {
		c = &cycle{salt: salt}
		f.cycles[salt] = c
	}
	return c
}

// findFrames looks for frame headers that prove themselves. Their payload is
// looked at when it is needed.
func (f *findings) findFrames(b []byte, off int64, n int) {
	le := binary.LittleEndian
	for i := 0; i < n && i+format.FrameHeaderSize <= len(b); i += format.FrameAlign {
		// The type, and three zeros.
		t := le.Uint32(b[i:])
		if t-1 > 1 && t-128 > 127 {
			continue
		}
		salt, at := le.Uint64(b[i+40:]), off+int64(i)
		fr, ok := format.DecodeFrame(b[i:], f.uuid, salt, at, format.MaxLogExtent)
		if !ok {
			continue
		}
		c := f.cycle(salt)
		c.promised = max(c.promised, fr.Promised)
		if at == c.start {
			c.firstLSN = fr.LSN
		}
		f.sawID(fr.FirstID + fr.Count)
		if fr.Type == format.FrameTurns {
			c.frames = append(c.frames, foundFrame{at: at, lsn: fr.LSN, first: fr.FirstID, count: fr.Count})
		}
	}
}

// confirmCycles finds out what was acknowledged. A promise vouches for the
// frames of its own cycle, and for those of an earlier one if it is known that
// they came before this one began: after a crash LSNs are given again.
func (f *findings) confirmCycles() {
	all := make([]*cycle, 0, len(f.cycles))
	for _, c := range f.cycles {
		slices.SortFunc(c.frames, func(a, b foundFrame) int { return cmp.Compare(a.lsn, b.lsn) })
		c.confirmed = c.promised
		all = append(all, c)
	}
	for _, c := range all {
		for _, later := range all {
			if c.number != 0 && later.number > c.number && later.firstLSN > 0 {
				c.confirmed = max(c.confirmed, min(later.promised, later.firstLSN-1))
			}
		}
	}
}

// split returns the frames that were acknowledged, and the others.
func (c *cycle) split() (confirmed, rest []foundFrame) {
	i, _ := slices.BinarySearchFunc(c.frames, c.confirmed+1, func(fr foundFrame, lsn format.LSN) int { return cmp.Compare(fr.lsn, lsn) })
	return c.frames[:i], c.frames[i:]
}

// frameTurns goes through the turns of frames in the order of their ids. What is
// damaged comes as a segment.RangeError, as from Segment.All.
func (f *findings) frameTurns(salt uint64, frames []foundFrame) func(context.Context) iter.Seq2[segment.Turn, error] {
	return func(context.Context) iter.Seq2[segment.Turn, error] {
		return func(yield func(segment.Turn, error) bool) {
			next := uint64(0)
			for _, fr := range frames {
				if fr.first < next {
					continue // nobody gave an id twice in a cycle
				}
				next = fr.first + fr.count
				if !f.frame(salt, fr, yield) {
					return
				}
			}
		}
	}
}

// frame hands out the turns of one frame. It is whole or nothing.
func (f *findings) frame(salt uint64, at foundFrame, yield func(segment.Turn, error) bool) bool {
	b := f.w.bytes(at.at, format.FrameHeaderSize)
	fr, ok := format.DecodeFrame(b, f.uuid, salt, at.at, format.MaxLogExtent)
	if ok {
		b = f.w.bytes(at.at, format.FrameHeaderSize+int64(fr.Length))
		ok = fr.BodyIntact(b, f.uuid, at.at)
	}
	var turns []segment.Turn
	err := format.Corruptf("log frame", at.at, "payload of frame %d differs from its checksum", at.lsn)
	if ok {
		turns, err = provenTurns(b[format.FrameHeaderSize:], fr, at.at)
	}
	if err != nil {
		return yield(segment.Turn{}, &segment.RangeError{FirstID: at.first, Count: at.count, Err: err})
	}
	for i := range turns {
		if !yield(turns[i], nil) {
			return false
		}
	}
	return true
}

// provenTurns takes an intact payload apart; each turn is held against its own
// sums. The turns alias the payload.
func provenTurns(payload []byte, fr format.Frame, at int64) (turns []segment.Turn, err error) {
	for t, err := range wal.Turns(payload, fr.Count, at+format.FrameHeaderSize) {
		if err != nil {
			return nil, err
		}
		if !t.Meta.Intact(t.Content) || t.Meta.HasSource && format.Hash(t.Source) != t.Meta.SourceSum {
			return nil, format.Corruptf("log frame", at, "turn %d differs from its sum", fr.FirstID+uint64(len(turns)))
		}
		n := len(t.Record) - len(t.Content)
		turns = append(turns, segment.Turn{ID: fr.FirstID + uint64(len(turns)), Meta: t.Record[:n:n], Record: t.Meta, Content: t.Content, Source: t.Source})
	}
	return turns, nil
}
