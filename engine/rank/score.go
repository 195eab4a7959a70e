package rank

import (
	"cmp"
	"slices"
	"sort"
)

// score adds the turns of a part to the best. found are the places of the
// question's terms in it.
//
// Terms come in the order of what they can add at most. As soon as all that are
// left, together, would not lift a turn that has none of the others among the
// best, only the turns that have a score are looked at: the idea of MaxScore
// (Turtle and Flood, Query Evaluation: Strategies and Optimizations, 1995), a
// part at a time. No hit is lost by it.
func (s *searcher) score(o *outlook, part Part, found []entry) error {
	c, err := part.Columns()
	if err != nil {
		return err
	}
	s.admit(c)
	runs := s.runs
	if n := c.Turns(); cap(s.scores) < n {
		s.counts, s.scores = make([]float32, n), make([]float32, n)
	} else {
		s.counts, s.scores = s.counts[:n], s.scores[:n]
	}
	few, err := s.addTerms(o, part, c, runs, found)
	if err != nil {
		return err
	}
	if few { // no other turn has a score
		for _, seat := range s.candidates {
			s.choose(o.part, c, seat, &o.extras)
			s.scores[seat] = 0
		}
		runs = nil
	}
	for _, run := range runs {
		for seat := run.From; seat < run.To; seat++ {
			if s.scores[seat] > 0 {
				s.choose(o.part, c, seat, &o.extras)
			}
		}
		clear(s.scores[run.From:run.To])
	}
	if s.best.full() {
		s.floor.raise(s.best.heap[0].Score)
	}
	return nil
}

// addTerms scores the turns of the runs by each term of the question. few: only
// candidates have a score.
func (s *searcher) addTerms(o *outlook, part Part, c *Columns, runs []Run, found []entry) (few bool, err error) {
	around := c.around(s.kernel)
	left, most := o.words, o.extras.most // left is what the terms to come add at most
	if few = len(s.filter.Must) > 0; few {
		if err := s.having(part, runs); err != nil {
			return few, err
		}
	}
	for i := range s.terms {
		t := &s.terms[i]
		if found[t.at].count == 0 {
			continue
		}
		if !few && s.hopeless(left*most) {
			few = true
			s.collect(runs)
		}
		if few {
			s.dropHopeless(float32(left), float32(most))
			if len(s.candidates) == 0 {
				return few, nil
			}
		}
		if err := s.read(part, t, &found[t.at]); err != nil {
			return few, err
		}
		factor := t.weight * (s.model.K1 + 1)
		left -= factor
		s.addTerm(runs, c, around, float32(factor), few)
	}
	return few, nil
}

// addTerm adds what the postings at hand tell.
func (s *searcher) addTerm(runs []Run, c *Columns, around *around, factor float32, few bool) {
	list := s.postings
	for _, run := range runs {
		if len(list) == 0 {
			return
		}
		if here := within(list, run); few {
			s.spreadFew(here, run, c, around, factor)
		} else {
			s.spread(here, run, c, around, factor)
		}
	}
}

// collect makes the turns that have a score candidates.
func (s *searcher) collect(runs []Run) {
	s.candidates = s.candidates[:0]
	for _, run := range runs {
		for seat := run.From; seat < run.To; seat++ {
			if s.scores[seat] > 0 {
				s.candidates = append(s.candidates, seat)
			}
		}
	}
}

// dropHopeless leaves candidates out that won't be among the best even with all
// that is left.
func (s *searcher) dropHopeless(left, most float32) {
	worst := float32(s.worst())
	kept := s.candidates[:0]
	for _, seat := range s.candidates {
		if (s.scores[seat]+left)*most >= worst {
			kept = append(kept, seat)
		} else {
			s.scores[seat] = 0
		}
	}
	s.candidates = kept
}

// admit takes the part's runs that the filter admits.
func (s *searcher) admit(c *Columns) {
	s.runs = s.runs[:0]
	for _, run := range c.Runs {
		if s.filter.Thread == "" && (s.filter.Except == "" || run.Thread != s.except) || s.filter.Thread != "" && run.Thread == s.thread {
			s.runs = append(s.runs, run)
		}
	}
}

// having makes the turns that have every term of Must candidates.
func (s *searcher) having(part Part, runs []Run) (err error) {
	s.candidates = s.candidates[:0]
	for i, t := range s.filter.Must {
		if s.postings, err = part.Postings(s.postings[:0], t); err != nil {
			return err
		}
		if i > 0 {
			s.candidates = slices.DeleteFunc(s.candidates, func(seat uint32) bool { return !has(s.postings, seat) })
			continue
		}
		for _, run := range runs {
			for _, p := range within(s.postings, run) {
				s.candidates = append(s.candidates, p.Seat)
			}
		}
	}
	return nil
}

func has(list []Posting, seat uint32) bool {
	_, ok := slices.BinarySearchFunc(list, seat, func(p Posting, seat uint32) int { return cmp.Compare(p.Seat, seat) })
	return ok
}

// within cuts the postings of a run out.
func within(list []Posting, run Run) []Posting {
	from := sort.Search(len(list), func(i int) bool { return list[i].Seat >= run.From })
	to := from + sort.Search(len(list)-from, func(i int) bool { return list[from+i].Seat >= run.To })
	return list[from:to]
}
