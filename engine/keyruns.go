package engine

import (
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// runFan is how many segments, or runs of one level, are merged into a run.
const runFan = 8

// mergeRuns merges the keys of the newest segments once enough of them are in
// no run, and runs of one level once enough of them lie side by side. Looking
// for a key visits O(log n) places for it.
func (db *DB) mergeRuns(next *view, root *format.Root, written *[]span) error {
	root.Runs = slices.Clone(root.Runs)
	before := len(*written)
	for {
		fresh := withKeys(freshSegments(next, root))
		if len(fresh) <= runFan {
			break
		}
		// The last segment may still be absorbed by the next seal; it stays out.
		sources, entry, ok := db.segmentKeys(fresh[:runFan])
		if !ok {
			break // a damaged key page: these segments keep being asked themselves
		}
		if err := db.addRun(root, sources, entry, written); err != nil {
			return err
		}
		if err := db.mergeLevels(root, written); err != nil {
			return err
		}
	}
	db.releaseMerged(root, before, written)
	next.runs = slices.DeleteFunc(slices.Clone(next.runs), func(r *segment.Run) bool { return !slices.Contains(root.Runs, r.Entry()) })
	for _, e := range root.Runs[len(next.runs):] {
		next.runs = append(next.runs, segment.OpenRun(db.file, db.path, db.super.UUID, e, db.readOptions()))
	}
	return nil
}

// mergeLevels merges the last runs for as long as enough of them are of one
// level.
func (db *DB) mergeLevels(root *format.Root, written *[]span) error {
	for {
		n := len(root.Runs)
		if n < runFan {
			return nil
		}
		last := root.Runs[n-runFan:]
		if slices.ContainsFunc(last, func(r format.RunEntry) bool { return r.Level != last[0].Level }) {
			return nil
		}
		sources, entry, ok := db.runKeys(last)
		if !ok {
			return nil
		}
		root.Runs = root.Runs[:n-runFan]
		if err := db.addRun(root, sources, entry, written); err != nil {
			return err
		}
	}
}

// releaseMerged gives back the runs written since before that were merged into
// others at once: nobody will ever name them.
func (db *DB) releaseMerged(root *format.Root, before int, written *[]span) {
	kept := (*written)[:before]
	for _, s := range (*written)[before:] {
		if slices.ContainsFunc(root.Runs, func(r format.RunEntry) bool { return r.Offset == s.off }) {
			kept = append(kept, s)
		} else {
			db.release(s)
		}
	}
	*written = kept
}

// freshSegments lists the catalog's segments behind the last run.
func freshSegments(next *view, root *format.Root) (fresh []format.SegmentEntry) {
	end := uint64(1)
	if n := len(root.Runs); n > 0 {
		end = root.Runs[n-1].EndID
	}
	for i := len(next.leaves) - 1; i >= 0; i-- {
		for j := len(next.leaves[i]) - 1; j >= 0; j-- {
			if next.leaves[i][j].FirstID < end {
				slices.Reverse(fresh)
				return fresh
			}
			fresh = append(fresh, next.leaves[i][j])
		}
	}
	slices.Reverse(fresh)
	return fresh
}

// withKeys drops leading segments that have no keys: no run need cover them.
func withKeys(segs []format.SegmentEntry) []format.SegmentEntry {
	for len(segs) > 0 && segs[0].Keys == 0 {
		segs = segs[1:]
	}
	return segs
}

// segmentKeys reads the keys of segments; ok is false where a page is damaged.
func (db *DB) segmentKeys(segs []format.SegmentEntry) (keys []format.KeyEntry, e format.RunEntry, ok bool) {
	e = format.RunEntry{FirstID: segs[0].FirstID, EndID: segs[len(segs)-1].EndID(), Level: 1}
	for _, s := range segs {
		r := segment.Open(db.file, db.path, db.super.UUID, s, db.readOptions())
		for k, err := range r.Keys() {
			if err != nil {
				r.Close()
				return nil, e, false
			}
			keys = append(keys, k)
		}
		r.Close()
	}
	return keys, e, true
}

// runKeys reads the keys of runs; ok is false where a page is damaged.
func (db *DB) runKeys(runs []format.RunEntry) (keys []format.KeyEntry, e format.RunEntry, ok bool) {
	e = format.RunEntry{FirstID: runs[0].FirstID, EndID: runs[len(runs)-1].EndID, Level: runs[0].Level + 1}
	for _, x := range runs {
		r := segment.OpenRun(db.file, db.path, db.super.UUID, x, db.readOptions())
		for k, err := range r.Keys() {
			if err != nil {
				r.Close()
				return nil, e, false
			}
			keys = append(keys, k)
		}
		r.Close()
	}
	return keys, e, true
}

// addRun writes a run and puts it into the root.
//
// REQUIRES: there are keys.
func (db *DB) addRun(root *format.Root, keys []format.KeyEntry, e format.RunEntry, written *[]span) error {
	nonce, err := random(&db.opts)
	if err != nil {
		return err
	}
	e.Nonce, e.Keys = nonce, uint64(len(keys))
	b := segment.BuildRun(db.super.UUID, nonce, keys)
	e.Length = int64(len(b))
	if e.Offset, err = db.writeExtent(e.Length, func(int64) []byte { return b }); err != nil {
		return err
	}
	*written = append(*written, span{off: e.Offset, len: e.Length})
	root.Runs = append(root.Runs, e)
	return nil
}
