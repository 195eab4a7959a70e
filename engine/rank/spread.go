package rank

import (
	"sort"

	"ctxdb/engine/lex"
)

// spread counts a term in the turns that have it and in their neighbours, and
// adds what it tells to their scores. The postings are all of one run.
func (s *searcher) spread(list []Posting, run Run, c *Columns, around *around, factor float32) {
	reach, lo, hi := uint32(s.kernel.reach), run.From, run.To-1
	for i := 0; i < len(list); {
		from := list[i].Seat - min(reach, list[i].Seat-lo)
		to := from
		for ; i < len(list) && list[i].Seat <= to+reach+1; i++ { // those whose neighbours touch
			s.lend(list[i], lo, hi, c, around)
			to = list[i].Seat + min(reach, hi-list[i].Seat)
		}
		s.settle(from, to, around.lengths, factor)
	}
}

// lend adds a turn's count to its own seat and those around it.
//
// Products are converted before they are added, here and in lent, which keeps them
// from being fused with the sum: a score is the same to the last bit on every
// machine, and whether or not the turn was one of few candidates, which depends on
// what other goroutines have found.
func (s *searcher) lend(p Posting, lo, hi uint32, c *Columns, around *around) {
	count := float32(p.Count)
	s.counts[p.Seat] += count
	answer := float32(1)
	if c.Cues[p.Seat]&lex.CueQuestion != 0 {
		answer = float32(s.model.Answer)
	}
	lends := s.lends[1:]
	before := s.counts[p.Seat-min(p.Seat-lo, uint32(len(lends))) : p.Seat]
	after := s.counts[p.Seat+1 : p.Seat+1+min(hi-p.Seat, uint32(len(lends)))]
	if around.tools != nil {
		s.lendTools(p, count, answer, before, after, around)
		return
	}
	for d, last := 0, len(before)-1; d <= last; d++ {
		before[last-d] += float32(count * lends[d])
	}
	for d := range after {
		y := count * lends[d]
		if d == 0 {
			y *= answer
		}
		after[d] += float32(y)
	}
}

// lendTools is lend where turns may be of tools.
func (s *searcher) lendTools(p Posting, count, answer float32, before, after []float32, around *around) {
	tool, lends := around.tools[p.Seat], s.lends[1:]
	for d := range before {
		count := count * lends[d]
		if tool || around.tools[int(p.Seat)-1-d] {
			count *= s.kernel.tool
		}
		before[len(before)-1-d] += float32(count)
	}
	for d := range after {
		count := count * lends[d]
		if d == 0 {
			count *= answer
		}
		if tool || around.tools[int(p.Seat)+1+d] {
			count *= s.kernel.tool
		}
		after[d] += float32(count)
	}
}

// settle turns the counts of a term into scores and clears them.
func (s *searcher) settle(from, to uint32, lengths []float32, factor float32) {
	counts, scores := s.counts[from:to+1], s.scores[from:to+1]
	lengths = lengths[from : to+1]
	for i, x := range counts {
		scores[i] += factor * x / (x + s.norm + float32(s.slope*lengths[i]))
		counts[i] = 0
	}
}

// spreadFew is spread for the scores of candidates only.
func (s *searcher) spreadFew(list []Posting, run Run, c *Columns, around *around, factor float32) {
	reach := uint32(s.kernel.reach)
	first := sort.Search(len(s.candidates), func(i int) bool { return s.candidates[i] >= run.From })
	for _, seat := range s.candidates[first:] {
		if seat >= run.To {
			break
		}
		from := seat - min(reach, seat-run.From)
		for len(list) > 0 && list[0].Seat < from {
			list = list[1:]
		}
		count := float32(0)
		for i := 0; i < len(list) && list[i].Seat <= seat+reach; i++ {
			count += float32(s.lent(list[i], seat, c, around))
		}
		if count > 0 {
			s.scores[seat] += factor * count / (count + s.norm + float32(s.slope*around.lengths[seat]))
		}
	}
}

// lent is what one turn's count is to another.
func (s *searcher) lent(p Posting, seat uint32, c *Columns, around *around) float32 {
	count := float32(p.Count)
	if p.Seat == seat {
		return count
	}
	count *= s.lends[max(seat, p.Seat)-min(seat, p.Seat)]
	if seat == p.Seat+1 && c.Cues[p.Seat]&lex.CueQuestion != 0 {
		count *= float32(s.model.Answer)
	}
	if around.tools != nil && (around.tools[seat] || around.tools[p.Seat]) {
		count *= s.kernel.tool
	}
	return count
}
