package rank

import "slices"

// gather counts turns and terms over all parts, and weighs the terms.
func (s *searcher) gather(parts []Part) error {
	asked := len(s.terms)
	s.found = slices.Grow(s.found[:0], len(parts)*asked)[:len(parts)*asked]
	at, err := s.each(len(parts), func(s *searcher, i int) (more bool, err error) {
		return true, s.lookUp(parts[i], s.found[i*asked:(i+1)*asked])
	})
	if err != nil {
		return &PartError{at, err}
	}
	s.turns, s.threadTurns, s.called = 0, 0, s.called[:0]
	words := 0.0
	for at, part := range parts {
		c, err := part.Columns()
		if err == nil {
			words += c.around(s.kernel).sum
			s.turns += c.Turns()
			s.call(c)
			err = s.count(part, c, s.found[at*asked:(at+1)*asked])
		}
		if err != nil {
			return &PartError{at, err}
		}
	}
	average := max(1, words/float64(max(1, s.turns)))
	s.norm, s.slope = float32(s.model.K1*(1-s.model.B)), float32(s.model.K1*s.model.B/average)
	s.weigh()
	return nil
}

// lookUp looks the terms up in a part, and remembers their places.
func (s *searcher) lookUp(part Part, found []entry) error {
	c, err := part.Columns()
	if err != nil {
		return err
	}
	c.around(s.kernel) // made once, here, where several do it
	r, encoded := part.(*Reader)
	for i := range s.terms {
		e, ok := entry{}, true
		if encoded {
			e, ok, err = r.find(s.terms[i].Term)
		} else {
			e.count, err = part.Count(s.terms[i].Term)
		}
		if err != nil {
			return err
		}
		if !ok {
			e = entry{}
		}
		found[i] = e
	}
	return nil
}

// count adds what a part has to the counts of all.
func (s *searcher) count(part Part, c *Columns, found []entry) error {
	for i := range s.terms {
		s.terms[i].turns += found[i].count
	}
	if s.filter.Thread == "" {
		return nil
	}
	s.admit(c)
	for _, run := range s.runs {
		s.threadTurns += int(run.To - run.From)
	}
	if s.model.ThreadShare == 0 || len(s.runs) == 0 {
		return nil
	}
	for i := range s.terms {
		t := &s.terms[i]
		if err := s.read(part, t, &found[i]); err != nil {
			return err
		}
		for _, run := range s.runs {
			t.threadTurns += len(within(s.postings, run))
		}
	}
	return nil
}

// read gets a term's postings of a part.
func (s *searcher) read(part Part, t *term, e *entry) (err error) {
	if r, encoded := part.(*Reader); !encoded {
		s.postings, err = part.Postings(s.postings[:0], t.Term)
	} else if s.postings = s.postings[:0]; e.count > 0 {
		s.postings, err = r.postingsOf(s.postings, e)
	}
	return err
}
