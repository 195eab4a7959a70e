package wal

import (
	"encoding/binary"
	"fmt"

	"ctxdb/format"
)

// accept decides which candidates count, in the order of their places, and what
// becomes of the gaps between them.
func (s *scan) accept() {
	s.result.Uses = make([]Use, len(s.spans))
	for i := range s.spans {
		p := &s.spans[i]
		s.result.Uses[i] = Use{Extent: p.x, Used: p.base - framesAt(p.x)}
	}
	for i := range s.found {
		if !s.take(&s.found[i]) {
			return
		}
	}
}

// take decides about one candidate. It returns false where the log ends before
// it: an unpromised frame that is not the next one, or is damaged.
func (s *scan) take(c *candidate) bool {
	if mutateLSN {
		s.next = c.LSN
	}
	if c.LSN < s.next {
		return true // the writer counts upwards: nobody wrote this. Its bytes are in a gap
	}
	if c.LSN > s.next && !s.gap(c) {
		return false
	}
	promised := c.LSN <= s.promised
	if !promised && (s.o.PromisedOnly || !c.intact || !s.follows(c)) {
		return false
	}
	switch {
	case !s.follows(c) && !s.skipIDs(c):
	case c.intact:
		s.count(c)
	default:
		s.damage(Damage{FirstID: c.FirstID, Count: c.Count, Offset: s.place(c), Length: int64(c.size()),
			Detail: fmt.Sprintf("payload of frame %d differs from its checksum", c.LSN)})
	}
	s.pass(c)
	return true
}

// gap deals with the frames missing before c. Those above the highest promise end
// the log. Those below are damage: what they held is known by the ids between
// which they lie. It reports whether c may count.
func (s *scan) gap(c *candidate) bool {
	if s.next > s.promised {
		return false
	}
	lost := Damage{FirstID: s.nextID, Detail: fmt.Sprintf("no valid header of frames %d to %d", s.next, min(c.LSN-1, s.promised))}
	if s.nextID != 0 && c.FirstID > s.nextID {
		lost.Count = c.FirstID - s.nextID
		s.nextID = c.FirstID
	}
	s.damageTo(lost, c)
	s.next = min(c.LSN, s.promised+1)
	s.in, s.at = c.in, c.at
	return c.LSN == s.next
}

// follows reports whether c begins with the id that comes next.
func (s *scan) follows(c *candidate) bool {
	if s.nextID == 0 || mutateIDs {
		s.nextID = c.FirstID
	}
	return c.FirstID == s.nextID
}

// skipIDs deals with a promised frame that does not begin with the next id,
// though no frame is missing before it. It reports whether c may count: not
// with ids that other frames have.
func (s *scan) skipIDs(c *candidate) bool {
	d := Damage{FirstID: s.nextID, Offset: s.place(c), Length: int64(c.size()),
		Detail: fmt.Sprintf("frame %d begins with id %d where %d comes next", c.LSN, c.FirstID, s.nextID)}
	ok := c.FirstID > s.nextID
	if ok {
		d.Count, d.Length = c.FirstID-s.nextID, format.FrameHeaderSize
		s.nextID = c.FirstID
	}
	s.damage(d)
	return ok
}

// count makes c part of the result.
func (s *scan) count(c *candidate) {
	u := &s.result.Uses[c.in]
	u.Frames++
	u.Turns += c.Count
	switch c.Type {
	case format.FrameTurns:
		from := c.at + format.FrameHeaderSize
		to := from + int(c.Length)
		s.result.Entries = append(s.result.Entries, Entry{Frame: c.Frame, At: s.place(c), Payload: s.spans[c.in].b[from:to:to]})
	case format.FramePromise:
		u.Promises++
	}
}

// pass goes on behind c.
func (s *scan) pass(c *candidate) {
	s.next = c.LSN + 1
	s.nextID = max(s.nextID, c.FirstID+c.Count)
	s.in, s.at = c.in, c.at+c.size()
	p := &s.spans[c.in]
	s.result.Uses[c.in].Used = p.base + int64(s.at) - framesAt(p.x)
}

// finish fills in what is known at the end.
func (s *scan) finish() *Result {
	r := s.result
	r.LastLSN, r.Promised, r.NextID = s.next-1, s.promised, s.nextID
	if len(s.spans) > 0 {
		p := &s.spans[s.in]
		r.End = Position{Cycle: p.x.Cycle, At: p.base + int64(s.at), LSN: s.next, NextID: s.nextID, Promised: s.promised}
	}
	if !s.o.PromisedOnly {
		s.tear()
	}
	return r
}

// tear measures what is left behind the last frame that counts.
func (s *scan) tear() {
	at := s.at
	for i := s.in; i < len(s.spans); i++ {
		p := &s.spans[i]
		if end := p.used(at, len(p.b)); end > at {
			if s.result.TornBytes == 0 {
				s.result.TornAt = p.base + int64(at)
			}
			s.result.TornBytes += int64(end - at)
		}
		at = 0
	}
}

// used returns the end of the last byte between from and to that is not zero,
// or from.
func (p *span) used(from, to int) int {
	for to-from >= 8 && binary.LittleEndian.Uint64(p.b[to-8:]) == 0 {
		to -= 8
	}
	for to > from && p.b[to-1] == 0 {
		to--
	}
	return to
}

func (s *scan) place(c *candidate) int64 { return s.spans[c.in].base + int64(c.at) }

func (s *scan) damage(d Damage) { s.result.Damages = append(s.result.Damages, d) }

// damageTo records damage of all bytes that are not decided up to c. In each
// extent it is a range of its own; the first one has the ids. At the end of an
// extent zeros are left out: rotation leaves them.
func (s *scan) damageTo(d Damage, c *candidate) {
	at := s.at
	found := false
	for i := s.in; i <= c.in; i++ {
		p := &s.spans[i]
		end := c.at
		if i < c.in {
			end = (p.used(at, len(p.b)) + format.FrameAlign - 1) &^ (format.FrameAlign - 1)
		}
		if end > at {
			d.Offset, d.Length = p.base+int64(at), int64(end-at)
			s.damage(d)
			d.FirstID, d.Count = 0, 0
			found = true
		}
		at = 0
	}
	if !found {
		d.Offset = s.spans[s.in].base + int64(s.at)
		s.damage(d)
	}
}
