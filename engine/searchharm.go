package engine

import (
	"fmt"

	"ctxdb/segment"
)

// harm is what a search met and went around: damage, and turns without index.
type harm struct {
	errs   []error
	unseen unseen
}

// unseen counts the turns that a search can't find, though nothing is damaged:
// their index is of another version, or they were sealed without one.
type unseen struct {
	turns      uint64
	first, end uint64 // of the first segment or run
	why        error  // of that; nil: it has no index
}

// add counts the turns of a segment.
func (u *unseen) add(s *segment.Segment, why error) {
	e := s.Entry()
	u.count(e.FirstID, e.EndID(), e.Turns, why)
}

// count adds n turns from first on, before end.
func (u *unseen) count(first, end, n uint64, why error) {
	if u.turns == 0 {
		u.first, u.end, u.why = first, end, why
	}
	u.turns += n
}

// note says what of the turns is not searched; "": all is.
func (u *unseen) note(what string) string {
	if u.turns == 0 {
		return ""
	}
	why := "sealed without it"
	if u.why != nil {
		why = u.why.Error()
	}
	return fmt.Sprintf("the %s of %d turns can't be searched, the first are of #%d to #%d: %s", what, u.turns, u.first, u.end-1, why)
}

// note reports whether an error is damage, which the search can do without.
func (h *harm) note(err error) bool {
	if !isDamage(err) {
		return false
	}
	h.errs = append(h.errs, err)
	return true
}

func (h *harm) err() error {
	if len(h.errs) == 0 {
		return nil
	}
	return &partialError{h.errs}
}

// partialError is damage in one or several places.
type partialError struct{ errs []error }

func (e *partialError) Error() string {
	if n := len(e.errs) - 1; n > 0 {
		return fmt.Sprintf("%v (and damage in %d more places)", e.errs[0], n)
	}
	return e.errs[0].Error()
}

func (e *partialError) Unwrap() []error { return e.errs }
