package engine

import "time"

// doSettled is do for what reads indexes whose pages are verified once. Where
// another process writes, it may give up a segment of the view and overwrite its
// bytes, and no checksum would tell. So a reader believes what it found only if
// the superblocks, read after it, still name every segment; else it asks again.
// Beside a writer that never ceases to replace segments that would not end: from
// the second time on, what took less than half of the time for which a writer
// lets freed space rest is believed too.
//
// In the writer's own process a segment says itself that it was closed.
func (db *DB) doSettled(op func(v *view) error) error {
	var current time.Time // the view was no older then; zero: it may be of any age
	return db.do(func(v *view) error {
		if err := op(v); err != nil || db.writer != nil {
			return err
		}
		asked := time.Now()
		if _, err := db.refresh(db.view.Load()); err != nil {
			return err
		}
		err := v.retired()
		if err != nil && !current.IsZero() && asked.Sub(current) < db.opts.ReuseDelay/2 {
			return nil
		}
		current = asked
		return err
	})
}

// retired is the error of a segment that a newer view does without; nil: none.
func (v *view) retired() error {
	for _, s := range v.segs {
		if err := s.Closed(); err != nil {
			return err
		}
	}
	return nil
}
