package rank

import (
	"sort"

	"ctxdb/engine/lex"
)

// score adds the turns of a part to the best.
func (s *searcher) score(at int, part Part) error {
	c, err := part.Columns()
	if err != nil {
		return err
	}
	runs := s.runs(c)
	if len(runs) == 0 {
		return nil
	}
	if n := c.Turns(); cap(s.scores) < n {
		s.counts, s.scores = make([]float32, n), make([]float32, n)
	} else {
		s.counts, s.scores = s.counts[:n], s.scores[:n]
	}
	lengths, _ := c.contextLengths(s.kernel)
	for _, t := range s.terms {
		if s.postings, err = part.Postings(s.postings[:0], t.Term); err != nil {
			return err
		}
		list := s.postings
		for _, run := range runs {
			if len(list) == 0 {
				break
			}
			here := within(list, run)
			s.spread(here, run, c, lengths, float32(t.weight*(s.model.K1+1)))
		}
	}
	s.choose(at, c, runs)
	for _, run := range runs {
		clear(s.scores[run.From:run.To])
	}
	return nil
}

// runs are those that the filter admits.
func (s *searcher) runs(c *Columns) []Run {
	if s.filter.Thread == "" {
		return c.Runs
	}
	var runs []Run
	for _, run := range c.Runs {
		if run.Thread == s.thread {
			runs = append(runs, run)
		}
	}
	return runs
}

// within cuts the postings of a run out.
func within(list []Posting, run Run) []Posting {
	from := sort.Search(len(list), func(i int) bool { return list[i].Seat >= run.From })
	to := from + sort.Search(len(list)-from, func(i int) bool { return list[from+i].Seat >= run.To })
	return list[from:to]
}

// spread counts a term in the turns that have it and in their neighbours, and
// adds what it tells to their scores. The postings are all of one run.
func (s *searcher) spread(list []Posting, run Run, c *Columns, lengths []float32, factor float32) {
	reach, lo, hi := uint32(s.kernel.reach), run.From, run.To-1
	for i := 0; i < len(list); {
		from := list[i].Seat - min(reach, list[i].Seat-lo)
		to := from
		for ; i < len(list) && list[i].Seat <= to+reach+1; i++ { // those whose neighbours touch
			s.lend(list[i], lo, hi, c)
			to = list[i].Seat + min(reach, hi-list[i].Seat)
		}
		s.settle(from, to, lengths, factor)
	}
}

// lend adds a turn's count to its own seat and those around it.
func (s *searcher) lend(p Posting, lo, hi uint32, c *Columns) {
	count := float32(p.Count)
	s.counts[p.Seat] += count
	seat, tool := int(p.Seat), c.isTool(int(p.Seat))
	answer := float32(1)
	if c.Cues[p.Seat]&lex.CueQuestion != 0 {
		answer = float32(s.model.Answer)
	}
	for d := 1; d < len(s.lends); d++ {
		x := count * s.lends[d]
		if t := seat - d; t >= int(lo) {
			y := x
			if tool || c.isTool(t) {
				y *= s.kernel.tool
			}
			s.counts[t] += y
		}
		if t := seat + d; t <= int(hi) {
			y := x * answer
			if tool || c.isTool(t) {
				y *= s.kernel.tool
			}
			s.counts[t] += y
		}
		answer = 1
	}
}

// settle turns the counts of a term into scores and clears them.
func (s *searcher) settle(from, to uint32, lengths []float32, factor float32) {
	counts, scores := s.counts[from:to+1], s.scores[from:to+1]
	lengths = lengths[from : to+1]
	for i, x := range counts {
		scores[i] += factor * x / (x + s.norm + s.slope*lengths[i])
		counts[i] = 0
	}
}
