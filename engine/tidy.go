package engine

import (
	"cmp"
	"slices"
	"time"

	"ctxdb/format"
)

// tidyGain is how much shorter Close must be able to make a file before it
// moves anything: this many bytes, or an eighth of the file.
const tidyGain = 64 << 10

// tidy moves what lies at the end of the file into holes before it, so that
// Close can give the space of the log back. A state in which everything is
// moved is published like any other; until then the old places stand.
//
// REQUIRES: the state is closed.
func (db *DB) tidy() error {
	old := db.view.Load()
	plan := planMoves(old)
	if plan == nil {
		return nil
	}
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
	db.space.undo(db.space.end, end-db.space.end)
	db.space.end = end
	return nil
}

// moves says where everything goes.
type moves struct {
	extents map[int64]int64 // segments, runs of both sorts and the aside, where they move: old offset to new
	leaves  []int64         // the new place of each leaf
	root    int64
}

// planMoves fills holes from the front with what lies last. nil: it is not
// worth it.
func planMoves(v *view) *moves {
	if v.super.RootOffset == 0 {
		return nil
	}
	var objects []span
	for _, leaf := range v.leaves {
		for _, e := range leaf {
			objects = append(objects, span{off: e.Offset, len: e.Extent()})
		}
	}
	for _, r := range v.root.Runs {
		objects = append(objects, span{off: r.Offset, len: r.Length})
	}
	for _, r := range v.root.Vectors {
		objects = append(objects, span{off: r.Offset, len: r.Length})
	}
	if v.root.AsideOffset != 0 {
		objects = append(objects, span{off: v.root.AsideOffset, len: format.AlignUp(v.root.AsideLength)})
	}
	slices.SortFunc(objects, func(a, b span) int { return cmp.Compare(b.off, a.off) })
	used := v.used()
	before := v.reach()
	s := newSpace(used, 0, time.Now)
	plan := &moves{extents: map[int64]int64{}}
	after := int64(format.FirstExtent)
	for i, o := range objects {
		to, ok := s.allocBelow(o.len, o.off)
		if !ok {
			for _, rest := range objects[i:] {
				after = max(after, rest.end())
			}
			break
		}
		plan.extents[o.off] = to
		after = max(after, to+o.len)
	}
	for range v.leaves {
		plan.leaves = append(plan.leaves, s.alloc(format.LeafSize))
		after = max(after, plan.leaves[len(plan.leaves)-1]+format.LeafSize)
	}
	plan.root = s.alloc(v.root.Size())
	after = max(after, plan.root+v.root.Size())
	for _, l := range v.root.Lost {
		after = max(after, l.Offset+l.Length)
	}
	if gain := before - after; gain <= 0 || gain < tidyGain && gain < before/8 {
		return nil
	}
	return plan
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
