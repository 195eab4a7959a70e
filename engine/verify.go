package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// Finding is one thing that Verify found wrong.
type Finding struct {
	Region  string // what lies there
	Offset  int64  // absolute, in bytes; -1: what is missing lies nowhere in the file
	FirstID TurnID // of the turns it concerns; 0: none, or none that is known
	Count   uint64 // from the first to the last of them
	Err     error  // an ErrCorrupt or ErrTruncated
}

// Verify reads everything that the file's state names and yields what is
// wrong. It changes nothing. The error, if any, comes last: one of reading, of
// ctx, or ErrClosed where the DB is closed meanwhile.
func (db *DB) Verify(ctx context.Context) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		if db.closed.Load() {
			yield(Finding{}, fmt.Errorf("verify: %w", ErrClosed))
			return
		}
		if db.writer == nil {
			if _, err := db.refresh(db.view.Load()); err != nil {
				yield(Finding{}, fmt.Errorf("verify: %w", err))
				return
			}
		}
		c := checker{db: db, ctx: ctx, yield: yield, v: db.view.Load()}
		c.superblocks()
		c.catalog()
		c.segments()
		c.keyRuns()
		c.vectorRuns()
		c.ids()
		switch {
		case c.over:
		case ctx.Err() != nil:
			yield(Finding{}, fmt.Errorf("verify: %w", context.Cause(ctx)))
		case db.closed.Load():
			yield(Finding{}, fmt.Errorf("verify: %w", ErrClosed))
		}
	}
}

// checker walks a view.
type checker struct {
	db    *DB
	ctx   context.Context
	yield func(Finding, error) bool
	v     *view
	over  bool
}

func (c *checker) report(f Finding) bool {
	if c.db.closed.Load() {
		return false // what can't be read is no damage then
	}
	if !c.over && !c.yield(f, nil) {
		c.over = true
	}
	return !c.over
}

func (c *checker) stopped() bool {
	return c.over || c.ctx.Err() != nil || c.db.closed.Load()
}

// superblocks: one of two may be damaged without harm, and is worth a word.
func (c *checker) superblocks() {
	b, err := c.db.read(0, 2*format.SuperblockSize)
	if err != nil {
		c.report(Finding{Region: "superblock", Err: err})
		return
	}
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		if _, err := format.DecodeSuperblock(b[slot:slot+format.SuperblockSize], slot); err != nil {
			c.report(Finding{Region: "superblock", Offset: slot, Err: withPath(c.db.path, err)})
		}
	}
}

// catalog reads root and leaves again. A live writer may have moved on.
func (c *checker) catalog() {
	again := &view{super: c.v.super}
	if c.v.super.RootOffset == 0 {
		return
	}
	if err := c.db.loadCatalog(again); err != nil && c.db.stillSays(c.v) {
		f := Finding{Region: "catalog", Offset: c.v.super.RootOffset, Err: withPath(c.db.path, err)}
		var damage *CorruptError
		if errors.As(err, &damage) {
			f.Region, f.Offset = damage.Region, damage.Offset
		}
		c.report(f)
	}
}

// stillSays reports whether the file's state is the one of the view.
func (db *DB) stillSays(v *view) bool {
	supers, err := db.readSlots()
	if err != nil {
		return true
	}
	for _, s := range supers {
		if s.RootSum != v.super.RootSum || s.RootOffset != v.super.RootOffset {
			return false
		}
	}
	return true
}

func (c *checker) segments() {
	for _, s := range c.v.segs {
		if c.stopped() {
			return
		}
		c.segment(s)
	}
}

// segment verifies one; what a newer view does without is no finding.
func (c *checker) segment(s *segment.Segment) {
	var found []segment.Finding
	err := s.Verify(c.ctx, func(f segment.Finding) bool {
		found = append(found, f)
		return len(found) < 1000
	})
	if len(found) > 0 && c.db.overtaken(c.v, s.Entry()) {
		return
	}
	for _, f := range found {
		if !c.report(Finding{Region: f.Region, Offset: f.Offset, FirstID: TurnID(f.FirstID), Count: f.Count, Err: withPath(c.db.path, f.Err)}) {
			return
		}
	}
	_ = err // of the context: said once, at the end
}

// overtaken reports whether a newer view has no such segment.
func (db *DB) overtaken(v *view, e format.SegmentEntry) bool {
	if db.writer == nil {
		if _, err := db.refresh(v); err != nil {
			return false
		}
	}
	for _, s := range db.view.Load().segs {
		if s.Entry() == e {
			return false
		}
	}
	return true
}

func (c *checker) keyRuns() {
	for _, r := range c.v.runs {
		if c.stopped() {
			return
		}
		_ = r.Verify(c.ctx, func(f segment.Finding) bool {
			if isRetired(f.Err) {
				return false
			}
			return c.report(Finding{Region: f.Region, Offset: f.Offset, FirstID: TurnID(f.FirstID), Count: f.Count, Err: withPath(c.db.path, f.Err)})
		})
	}
}

// vectorRuns: their damage is worth a word, though no turn is concerned.
func (c *checker) vectorRuns() {
	for _, r := range c.v.vectors {
		if c.stopped() {
			return
		}
		var found []segment.Finding
		_ = r.Verify(c.ctx, func(f segment.Finding) bool {
			found = append(found, f)
			return len(found) < 1000
		})
		if len(found) == 0 {
			if err := r.sound(); err != nil && !errors.Is(err, ErrVersion) {
				found = append(found, segment.Finding{Region: "vector run", Offset: r.Entry().Offset, Err: err})
			}
		}
		if len(found) > 0 && c.db.withoutVectors(c.v, r.Entry()) {
			continue // a newer view does without it
		}
		for _, f := range found {
			if !c.report(Finding{Region: f.Region, Offset: f.Offset, Err: withPath(c.db.path, f.Err)}) {
				return
			}
		}
	}
}

// withoutVectors reports whether a newer view has no such vector run.
func (db *DB) withoutVectors(v *view, e format.VectorEntry) bool {
	if db.writer == nil {
		if _, err := db.refresh(v); err != nil {
			return false
		}
	}
	return !slices.Contains(db.view.Load().root.Vectors, e)
}

// ids: every id that was given is in a segment, in the log, or known as lost.
func (c *checker) ids() {
	type ids struct{ from, to uint64 }
	var have []ids
	for _, s := range c.v.segs {
		have = append(have, ids{s.Entry().FirstID, s.Entry().EndID()})
	}
	for i := range c.v.logs {
		have = append(have, ids{c.v.logs[i].first, c.v.logs[i].end()})
	}
	slices.SortFunc(have, func(a, b ids) int { return cmp.Compare(a.from, b.from) })
	next := uint64(1)
	for _, h := range append(have, ids{c.v.nextID, c.v.nextID}) {
		for next < h.from && !c.stopped() {
			end, err := c.v.lack(next)
			end = min(end, h.from)
			f := Finding{Region: "turns", FirstID: TurnID(next), Count: end - next, Err: err}
			var damage *CorruptError
			if errors.As(err, &damage) {
				f.Offset = damage.Offset
			}
			c.report(f)
			next = end
		}
		next = max(next, h.to)
	}
}
