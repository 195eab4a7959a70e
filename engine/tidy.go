package engine

import (
	"slices"

	"ctxdb/format"
)

// tidy moves what lies at the end of the file into holes before it, so that
// Close can give the space of the log back. Where the holes are too small, what is
// small moves first, to make one of several.
//
// REQUIRES: the state is closed.
func (db *DB) tidy() error {
	for range tidyRounds {
		plan := planMoves(db.view.Load())
		if plan == nil {
			return nil
		}
		if err := db.relocate(plan); err != nil {
			return err
		}
	}
	return nil
}

// relocate publishes a state in which everything is moved, like any other; until
// then the old places stand.
func (db *DB) relocate(plan *moves) error {
	old := db.view.Load()
	if err := db.confirm(); err != nil { // a life that put nothing away has not
		return err
	}
	next := old.derive()
	next.leaves = cloneLeaves(old.leaves)
	root := *old.root
	root.Runs = slices.Clone(root.Runs)
	root.Leaves = slices.Clone(root.Leaves)
	root.Vectors = slices.Clone(root.Vectors)
	if err := db.moveExtents(next, &root, plan); err != nil {
		return err
	}
	for i, entries := range next.leaves {
		b, sum := format.EncodeLeaf(db.super.UUID, plan.leaves[i], entries)
		root.Leaves[i].Offset, root.Leaves[i].Sum = plan.leaves[i], sum
		if err := db.writeMoved(b, plan.leaves[i]); err != nil {
			return err
		}
	}
	b, sum, err := encodeRoot(&root, db.super.UUID, plan.root)
	if err != nil {
		return err
	}
	if err := db.writeMoved(b, plan.root); err != nil {
		return err
	}
	next.root = &root
	next.super = db.super
	next.super.RootOffset, next.super.RootSum = plan.root, sum
	next.super.End = next.reach()
	if err := db.publish(next.super); err != nil {
		return err
	}
	next.super = db.super
	old.close()
	next.segs, next.runs = nil, nil
	db.openSegments(next)
	db.changeView(func(v *view) { *v = *next })
	db.mu.Lock()
	defer db.mu.Unlock()
	end := db.space.end
	db.space = newSpace(next.used(), db.opts.ReuseDelay, db.opts.Now)
	db.space.extend(end)
	return nil
}

func cloneLeaves(leaves [][]format.SegmentEntry) [][]format.SegmentEntry {
	out := make([][]format.SegmentEntry, len(leaves))
	for i := range leaves {
		out[i] = slices.Clone(leaves[i])
	}
	return out
}

// moveExtents copies segments, runs and the aside to their new places. Their
// checksums are not bound to the place in the file, so the copies are as good.
func (db *DB) moveExtents(next *view, root *format.Root, plan *moves) error {
	move := func(off *int64, n int64) error {
		to, ok := plan.extents[*off]
		if !ok {
			return nil
		}
		for done := int64(0); done < n; done += syncChunk {
			b, err := db.read(*off+done, min(syncChunk, n-done))
			if err != nil {
				return err
			}
			if err := db.writeMoved(b, to+done); err != nil {
				return err
			}
		}
		*off = to
		return nil
	}
	for _, leaf := range next.leaves {
		for i := range leaf {
			if err := move(&leaf[i].Offset, leaf[i].Length); err != nil {
				return err
			}
		}
	}
	for i := range root.Runs {
		if err := move(&root.Runs[i].Offset, root.Runs[i].Length); err != nil {
			return err
		}
	}
	for i := range root.Vectors {
		if err := move(&root.Vectors[i].Offset, root.Vectors[i].Length); err != nil {
			return err
		}
	}
	return move(&root.AsideOffset, root.AsideLength)
}

// writeMoved writes and syncs. A full disk leaves everything where it was.
func (db *DB) writeMoved(b []byte, off int64) error {
	err := db.writeSynced(b, off)
	if err != nil && !isNoSpace(err) {
		return db.breakOff(err)
	}
	return err
}
