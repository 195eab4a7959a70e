package engine

import (
	"errors"
	"fmt"
	"iter"

	"ctxdb/format"
)

// Get reads a turn, from the log or from a segment. Its Source is not read; see
// DB.Source. The turn's memory belongs to the caller.
//
// Errors: ErrNotFound, ErrForgotten, ErrCorrupt, ErrTruncated, ErrClosed.
func (db *DB) Get(id TurnID) (Turn, error) {
	var t format.Turn
	err := db.do(func(v *view) (err error) {
		t, err = v.get(uint64(id))
		return err
	})
	if err != nil {
		return Turn{}, fmt.Errorf("get: %w", err)
	}
	return fromStored(uint64(id), &t), nil
}

// AppendContent appends the content of a turn to dst and returns the longer
// slice. It allocates nothing when dst has room. Errors are those of Get; dst
// is returned as it was then.
func (db *DB) AppendContent(dst []byte, id TurnID) ([]byte, error) {
	if v := db.view.Load(); !db.closed.Load() {
		if out, err := v.content(dst, uint64(id)); err == nil {
			return out, nil
		}
	}
	out := dst
	err := db.do(func(v *view) (err error) {
		out, err = v.content(dst, uint64(id))
		return err
	})
	if err != nil {
		return dst, fmt.Errorf("content: %w", err)
	}
	return out, nil
}

// Source reads the record that a turn came in, exactly. It is nil where the
// turn was appended without one. Errors are those of Get.
func (db *DB) Source(id TurnID) ([]byte, error) {
	var b []byte
	err := db.do(func(v *view) (err error) {
		b, err = v.source(uint64(id))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	return b, nil
}

// Turns goes through the turns from <= id < to in order; to 0: up to the last
// one that the file has when the iteration begins. Sources are not read. A turn
// that can't be read comes as an error with its ID set, and the iteration goes
// on behind it.
func (db *DB) Turns(from, to TurnID) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		db.each(from, to, false, yield)
	}
}

// end is one more than the last TurnID. A reader looks for what is new first.
func (db *DB) end() (TurnID, error) {
	if db.closed.Load() {
		return 0, ErrClosed
	}
	if db.writer == nil {
		if _, err := db.refresh(db.view.Load()); err != nil {
			return 0, err
		}
	}
	return TurnID(db.view.Load().nextID), nil
}

// do runs an operation on the newest view. When it fails because the view was
// overtaken it is run again on a newer one; a reader looks at the file for
// that, and before it believes that something does not exist.
func (db *DB) do(op func(v *view) error) error {
	patience := newPatience()
	absent := false
	for {
		if db.closed.Load() {
			return ErrClosed
		}
		v := db.view.Load()
		err := op(v)
		damage, missing := isDamage(err), errors.Is(err, ErrNotFound)
		switch {
		case err == nil || !damage && !missing:
			return err
		case db.writer != nil:
			if isRetired(err) {
				continue // the view that closed the segment is published already
			}
			return withPath(db.path, err)
		case missing && absent || damage && !patience.left():
			return withPath(db.path, err)
		}
		// After one refresh an absence is true: the view is younger than the question.
		absent = absent || missing
		changed, rerr := db.refresh(v)
		if rerr != nil && db.closed.Load() {
			return ErrClosed
		}
		if rerr != nil {
			return rerr
		}
		if !changed {
			return withPath(db.path, err)
		}
	}
}
