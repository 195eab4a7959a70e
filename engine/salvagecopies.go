package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// class says how far a copy of turns is believed; lower is better.
type class int

const (
	classNamed    class = iota // a segment that the newest catalog names
	classLog                   // frames of a log that a superblock names, acknowledged
	classLogTail               // the same, above every promise
	classOldLog                // acknowledged frames of another cycle
	classListed                // a segment that some leaf names
	classLoose                 // a segment that only its own header tells of
	classLeftover              // frames that nobody names and nobody promised
)

// copyOf is a copy of turns with ascending ids, somewhere in the wreck.
type copyOf struct {
	class      class
	number     uint64 // of the segment, or of the log's cycle: higher is newer
	what       string
	first, end uint64
	turns      func(context.Context) iter.Seq2[segment.Turn, error]

	// The reading under way.
	next     func() (segment.Turn, error, bool)
	stop     func()
	head     segment.Turn          // ID 0: none left
	noSource error                 // of head
	lost     []*segment.RangeError // from the id that was asked for last on
	trust    *trust
}

func (c *copyOf) better(d *copyOf) int {
	return cmp.Or(cmp.Compare(c.class, d.class), -cmp.Compare(c.number, d.number), cmp.Compare(c.first, d.first), cmp.Compare(c.what, d.what))
}

// seek reads on to the first turn at or behind id. Its memory is shared with the
// copy until the next call.
func (c *copyOf) seek(ctx context.Context, id uint64) error {
	if c.next == nil {
		c.next, c.stop = iter.Pull2(c.turns(ctx))
		c.head.ID = 0
		if err := c.pull(); err != nil {
			return err
		}
	}
	for c.head.ID != 0 && c.head.ID < id {
		if err := c.pull(); err != nil {
			return err
		}
	}
	c.lost = slices.DeleteFunc(c.lost, func(l *segment.RangeError) bool { return l.FirstID+l.Count <= id })
	return nil
}

// pull takes the next turn. An error is one that ends everything.
func (c *copyOf) pull() error {
	for {
		t, err, ok := c.next()
		var lost *segment.RangeError
		switch {
		case !ok:
			c.head, c.noSource = segment.Turn{}, nil
			return nil
		case errors.As(err, &lost) && !lost.Source:
			c.lost = append(c.lost, lost)
			continue
		case lost != nil:
			c.head, c.noSource = t, err
			return nil
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			return err
		case err != nil: // the rest of this copy can't be read
			c.lost = append(c.lost, &segment.RangeError{FirstID: c.first, Count: c.end - c.first, Err: err})
			c.head, c.noSource = segment.Turn{}, nil
			return nil
		}
		c.head, c.noSource = t, nil
		return nil
	}
}

// why says why the copy does not have a turn that it should have.
func (c *copyOf) why(id uint64) (string, int64) {
	for _, l := range c.lost {
		if id >= l.FirstID && id < l.FirstID+l.Count {
			reason, offset := damageOf(l.Err)
			return c.what + ": " + reason, offset
		}
	}
	return c.what + " does not hold it", 0
}

func (c *copyOf) close() {
	if c.stop != nil {
		c.stop()
	}
	c.next, c.stop, c.head, c.lost = nil, nil, segment.Turn{}, nil
}

// copies lists every copy of turns that was found, in the order of their ids.
func (f *findings) copies(r *SalvageReport) []*copyOf {
	var all []*copyOf
	seen, listed := map[[3]uint64]bool{}, map[uint64]bool{} // nonces that some catalog has
	decoders := segment.NewDecoderCache(decoderBytes)
	add := func(cl class, e format.SegmentEntry) {
		f.sawID(e.EndID())
		key := [3]uint64{e.Number, e.Nonce, uint64(e.Offset)}
		size, _ := f.w.Size()
		end := f.refuted(cl, e.Number, e.EndID())
		if seen[key] || e.Offset >= size || e.FirstID >= end {
			return
		}
		seen[key] = true
		r.Segments++
		if cl != classNamed {
			r.OldSegments++
		}
		e.Length = min(e.Length, size-e.Offset)
		all = append(all, &copyOf{class: cl, number: e.Number, first: e.FirstID, end: end,
			what:  fmt.Sprintf("segment %d at %d", e.Number, e.Offset+f.w.base),
			turns: f.segmentTurns(e, decoders)})
	}
	for _, e := range f.named {
		add(classNamed, e)
	}
	for _, e := range f.listed {
		add(classListed, e)
	}
	for _, e := range append(slices.Clip(f.named), f.listed...) {
		listed[e.Nonce] = true
	}
	for _, h := range f.headers {
		if listed[h.Nonce] {
			continue // the catalog knows where it lies; this is it, or a copy of its header
		}
		add(classLoose, format.SegmentEntry{Number: h.Number, Offset: h.at, Length: h.Length, FirstID: h.FirstID, Turns: h.Turns, Nonce: h.Nonce})
	}
	for _, c := range f.cycles {
		confirmed, rest := c.split()
		yes, no := classOldLog, classLeftover
		if c.named {
			yes, no = classLog, classLogTail
		}
		all = f.addFrames(all, c, yes, confirmed)
		all = f.addFrames(all, c, no, rest)
	}
	slices.SortFunc(all, func(a, b *copyOf) int { return cmp.Or(cmp.Compare(a.first, b.first), a.better(b)) })
	return all
}

func (f *findings) segmentTurns(e format.SegmentEntry, decoders *segment.DecoderCache) func(context.Context) iter.Seq2[segment.Turn, error] {
	return func(ctx context.Context) iter.Seq2[segment.Turn, error] {
		return func(yield func(segment.Turn, error) bool) {
			s := segment.Open(f.w, f.w.path, f.uuid, e, segment.OpenOptions{NoMap: true, Decoders: decoders})
			defer s.Close()
			for t, err := range s.All(ctx) {
				if !yield(t, err) {
					return
				}
			}
		}
	}
}

func (f *findings) addFrames(all []*copyOf, c *cycle, cl class, frames []foundFrame) []*copyOf {
	if len(frames) == 0 {
		return all
	}
	x := &copyOf{class: cl, number: c.number, first: frames[0].first,
		what: fmt.Sprintf("log cycle %d at %d", c.number, frames[0].at+f.w.base), turns: f.frameTurns(c.salt, frames)}
	for _, fr := range frames {
		x.first, x.end = min(x.first, fr.first), max(x.end, fr.first+fr.count)
	}
	if x.end = f.refuted(cl, c.number, x.end); x.first >= x.end {
		return all
	}
	return append(all, x)
}

// refuted cuts the ids off that a superblock says were never given. A log that is
// in use is named by both superblocks before its first frame, and a closed file has
// no turns but those in segments; so what is older and not named, and has ids
// that are not given yet, was dropped by a recovery.
func (f *findings) refuted(cl class, number, end uint64) uint64 {
	for i := range f.supers {
		s := &f.supers[i]
		switch {
		case cl == classLeftover && number < s.NextCycle,
			cl >= classListed && cl <= classLoose && s.State == format.StateClosed && number < s.NextSegment:
			return min(end, s.NextID)
		}
	}
	return end
}
