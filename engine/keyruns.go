package engine

import (
	"errors"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// runFan is how many segments, or runs of one level, are merged into a run.
const runFan = 8

// keysAtOnce bounds the memory that is taken for keys on the catalog's word, before
// any was read: 64 MiB. More are added as they come.
const keysAtOnce = 4 << 20

// mergeRuns merges the keys of the newest segments once enough of them are in
// no run, and runs of one level once enough of them lie side by side. Looking
// for a key visits O(log n) places for it. A segment whose keys can't be read is
// left out, and goes on being asked itself.
func (db *DB) mergeRuns(next *view, root *format.Root, written *[]span) error {
	root.Runs = slices.Clone(root.Runs)
	before := len(*written)
	from := uint64(0) // what lies before it was left out
	for {
		fresh := withKeys(freshSegments(next, root), from)
		if len(fresh) <= runFan {
			break
		}
		// The last segment may still be absorbed by the next seal; it stays out.
		n, sources, entry, err := db.segmentKeys(fresh[:runFan])
		if n == 0 && isDamage(err) {
			from = fresh[0].EndID()
			continue
		}
		if n == 0 {
			break // it can't be read now, and may be later
		}
		if err := db.addRun(root, sources, entry, written); err != nil {
			return err
		}
		if err := db.mergeLevels(next, root, written); err != nil {
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
// level and nothing that was left out lies between them.
func (db *DB) mergeLevels(next *view, root *format.Root, written *[]span) error {
	for {
		n := len(root.Runs)
		if n < runFan {
			return nil
		}
		last := root.Runs[n-runFan:]
		if slices.ContainsFunc(last, func(r format.RunEntry) bool { return r.Level != last[0].Level }) {
			return nil
		}
		if len(next.keyed(last[0].FirstID, last[runFan-1].EndID, last)) > 0 {
			return nil
		}
		sources, entry, err := db.runKeys(next, last)
		if err != nil {
			return nil // they stay as they are
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

// withKeys drops leading segments that have no keys, which no run need cover, and
// those before an id.
func withKeys(segs []format.SegmentEntry, from uint64) []format.SegmentEntry {
	for len(segs) > 0 && (segs[0].Keys == 0 || segs[0].FirstID < from) {
		segs = segs[1:]
	}
	return segs
}

// segmentKeys reads the keys of the first n segments, up to one of which they
// can't be read; err says why.
func (db *DB) segmentKeys(segs []format.SegmentEntry) (n int, keys []format.KeyEntry, e format.RunEntry, err error) {
	for _, s := range segs {
		var more []format.KeyEntry
		if more, err = db.keysOf(s); err != nil {
			db.log.Error("the keys of a segment can't be read; it stays out of the key runs", "segment", s.Number, "offset", s.Offset, "err", err)
			break
		}
		keys = append(keys, more...)
		n++
	}
	if n > 0 {
		e = format.RunEntry{FirstID: segs[0].FirstID, EndID: segs[n-1].EndID(), Level: 1}
	}
	return n, keys, e, err
}

// runKeys reads the keys of runs, or of the segments that a damaged one covers.
func (db *DB) runKeys(v *view, runs []format.RunEntry) (keys []format.KeyEntry, e format.RunEntry, err error) {
	e = format.RunEntry{FirstID: runs[0].FirstID, EndID: runs[len(runs)-1].EndID, Level: runs[0].Level + 1}
	n := uint64(0)
	for _, x := range runs {
		n += x.Keys
	}
	keys = make([]format.KeyEntry, 0, min(n, keysAtOnce))
	for _, x := range runs {
		r := segment.OpenRun(db.file, db.path, db.super.UUID, x, db.readOptions())
		have := len(keys)
		keys, err = collectKeys(keys, r.Keys())
		r.Close()
		if isDamage(err) {
			db.log.Error("a key run is damaged; its keys are read from its segments", "offset", x.Offset, "err", err)
			keys, err = keys[:have], nil
			for _, s := range v.keyed(x.FirstID, x.EndID, nil) {
				part, perr := db.keysOf(s)
				keys, err = append(keys, part...), errors.Join(err, perr)
			}
		}
		if err != nil {
			return nil, e, err
		}
	}
	return keys, e, nil
}

// keyed lists the segments with keys in a range of ids that lie in none of the
// runs.
func (v *view) keyed(from, to uint64, runs []format.RunEntry) (segs []format.SegmentEntry) {
	for _, leaf := range v.leaves {
		for _, s := range leaf {
			if s.Keys > 0 && s.FirstID >= from && s.FirstID < to && !slices.ContainsFunc(runs, func(r format.RunEntry) bool { return covers(r, s) }) {
				segs = append(segs, s)
			}
		}
	}
	return segs
}

// covers reports whether a run holds the keys of a segment.
func covers(r format.RunEntry, s format.SegmentEntry) bool {
	return s.FirstID >= r.FirstID && s.FirstID < r.EndID
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
