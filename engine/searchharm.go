package engine

import "fmt"

// harm is damage that a search met and went around.
type harm struct{ errs []error }

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
