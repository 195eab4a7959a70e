package engine

import (
	"slices"
	"time"

	"ctxdb/format"
)

// span is a byte range of the file, in whole extent units.
type span struct {
	off, len int64
	restedAt time.Time // may be overwritten from then on
}

func (s span) end() int64 { return s.off + s.len }

// space knows which bytes of the file nobody names. It is derived at open and
// kept in memory; writer.mu guards it.
//
// invariant: spans are sorted, do not overlap, and end at or below end.
type space struct {
	free    []span
	end     int64 // of the last extent in use or free
	delay   time.Duration
	now     func() time.Time
	reserve span  // held back for sealing on a full disk
	secured int64 // where the reserve began: what was taken of it lies from there on
}

// newSpace makes the space of a file in which the extents used are taken.
func newSpace(used []span, delay time.Duration, now func() time.Time) *space {
	s := &space{end: format.FirstExtent, delay: max(delay, 0), now: now}
	used = slices.Clone(used)
	slices.SortFunc(used, func(a, b span) int { return int(min(max(a.off-b.off, -1), 1)) })
	for _, u := range used {
		if u.off > s.end {
			s.free = append(s.free, span{off: s.end, len: u.off - s.end})
		}
		s.end = max(s.end, u.end())
	}
	return s
}

// overlap returns two extents that claim the same bytes.
func overlap(used []span) (a, b span, found bool) {
	used = slices.Clone(used)
	slices.SortFunc(used, func(a, b span) int { return int(min(max(a.off-b.off, -1), 1)) })
	for i := 1; i < len(used); i++ {
		if used[i].off < used[i-1].end() {
			return used[i-1], used[i], true
		}
	}
	return span{}, span{}, false
}

// alloc takes n bytes: the first hole that rested long enough, else the end of
// the file.
func (s *space) alloc(n int64) int64 {
	n = format.AlignUp(n)
	now := s.now()
	for i, f := range s.free {
		if f.len >= n && !f.restedAt.After(now) {
			if f.len == n {
				s.free = slices.Delete(s.free, i, i+1)
			} else {
				s.free[i].off += n
				s.free[i].len -= n
			}
			return f.off
		}
	}
	off := s.end
	s.end += n
	return off
}

// allocBelow takes n bytes of the first hole that ends up below limit; ok is
// false where there is none. Holes need not have rested.
func (s *space) allocBelow(n, limit int64) (off int64, ok bool) {
	n = format.AlignUp(n)
	for i, f := range s.free {
		if f.off >= limit {
			break
		}
		if f.len >= n {
			s.free[i].off += n
			s.free[i].len -= n
			return f.off, true
		}
	}
	return 0, false
}

// allocReserved takes n bytes of the reserve, where it has them.
func (s *space) allocReserved(n int64) (off int64, ok bool) {
	n = format.AlignUp(n)
	if s.reserve.len < n {
		return 0, false
	}
	off = s.reserve.off
	s.reserve.off += n
	s.reserve.len -= n
	return off, true
}

// undo gives back an allocation that nobody ever named. What was taken of the
// reserve, and is given back last first, is reserve again.
func (s *space) undo(off, n int64) {
	n = format.AlignUp(n)
	if s.secured > 0 && off >= s.secured && off+n == s.reserve.off {
		s.reserve.off, s.reserve.len = off, s.reserve.len+n
		return
	}
	s.add(span{off: off, len: n})
}

// extend makes the file end there, with free space behind what is in use. Where
// more is in use it does nothing: a catalog may have moved behind the old end.
func (s *space) extend(end int64) {
	if free := end - s.end; free > 0 {
		s.undo(s.end, free)
		s.end = end
	}
}

// retire frees an extent that both superblocks have ceased to name. It rests
// before it is overwritten.
func (s *space) retire(off, n int64) {
	s.add(span{off: off, len: format.AlignUp(n), restedAt: s.now().Add(s.delay)})
}

func (s *space) add(x span) {
	if x.len == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(s.free, x, func(a, b span) int { return int(min(max(a.off-b.off, -1), 1)) })
	s.free = slices.Insert(s.free, i, x)
	s.merge(i)
	if i > 0 {
		s.merge(i - 1)
	}
}

// merge joins span i with the next one when they touch and neither rests, or
// both rest until the same time.
func (s *space) merge(i int) {
	if i+1 >= len(s.free) || s.free[i].end() != s.free[i+1].off {
		return
	}
	now := s.now()
	a, b := s.free[i].restedAt, s.free[i+1].restedAt
	if !a.Equal(b) && (a.After(now) || b.After(now)) {
		return
	}
	s.free[i].len += s.free[i+1].len
	s.free = slices.Delete(s.free, i+1, i+2)
}

// settle joins what has rested meanwhile.
func (s *space) settle() {
	for i := len(s.free) - 2; i >= 0; i-- {
		s.merge(i)
	}
}

// resting is the number of bytes that still rest, and how long until the first
// of them may be used.
func (s *space) resting() (bytes int64, wait time.Duration) {
	now := s.now()
	for _, f := range s.free {
		if f.restedAt.After(now) {
			if d := f.restedAt.Sub(now); wait == 0 || d < wait {
				wait = d
			}
			bytes += f.len
		}
	}
	return bytes, wait
}

// trim drops free space from the end and returns the new end of the file.
func (s *space) trim() int64 {
	if s.reserve.len > 0 {
		s.add(s.reserve)
		s.reserve = span{}
	}
	s.secured = 0
	for n := len(s.free); n > 0 && s.free[n-1].end() == s.end; n = len(s.free) {
		s.end = s.free[n-1].off
		s.free = s.free[:n-1]
	}
	return s.end
}
