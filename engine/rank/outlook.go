package rank

import (
	"cmp"
	"slices"
)

// outlook is what may be hoped of a part.
type outlook struct {
	part   int     // index into the parts
	words  float64 // what the question's terms that it has add to a turn at most
	extras extras
}

// most is above what any of its turns can score.
func (o *outlook) most() float64 { return o.words * o.extras.most }

// look weighs what may be hoped of each part that has anything, and puts the
// best first: the sooner good hits are known, the less of the other parts must
// be looked at.
func (s *searcher) look(parts []Part, asked int) error {
	s.outlooks = s.outlooks[:0]
	for at, part := range parts {
		o := outlook{part: at}
		for i := range s.terms {
			if t := &s.terms[i]; s.found[at*asked+t.at].count > 0 {
				o.words += t.weight * (s.model.K1 + 1)
			}
		}
		if o.words == 0 {
			continue
		}
		c, err := part.Columns()
		if err != nil {
			return &PartError{at, err}
		}
		o.extras = s.extrasOf(c)
		s.outlooks = append(s.outlooks, o)
	}
	slices.SortFunc(s.outlooks, func(a, b outlook) int {
		return cmp.Or(cmp.Compare(b.most(), a.most()), cmp.Compare(b.part, a.part))
	})
	return nil
}

// hopeless reports whether a turn that scores no more than that can't be among
// the best.
func (s *searcher) hopeless(most float64) bool { return most < s.worst() }
