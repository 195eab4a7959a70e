package engine

// doSettled is do for what reads indexes whose pages are verified once. Where
// another process writes, it may give up a segment of the view and overwrite its
// bytes, and no checksum would tell. So a reader believes what it found only if
// the superblocks, read after it, still name every segment; else it asks again.
// Beside a writer that never ceases to replace segments that would not end: the
// second time every page is verified, and what is found is true of its view. No
// time would be short enough to do without: what Close moves takes space that has
// not rested, and so may the next writer.
//
// In the writer's own process a segment says itself that it was closed.
func (db *DB) doSettled(op func(v *view) error) error {
	doubt := false
	defer func() {
		if doubt {
			db.index.doubting.Add(-1)
		}
	}()
	return db.do(func(v *view) error {
		if err := op(v); err != nil || db.writer != nil || doubt {
			return err
		}
		if err := db.refreshNow(); err != nil {
			return err
		}
		err := v.retired()
		if err != nil {
			doubt = true
			db.index.doubting.Add(1)
		}
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
