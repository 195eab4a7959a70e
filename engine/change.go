package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// change is a new state of the file: turns to seal, and what the superblock
// will say besides.
type change struct {
	turns   []stretch
	nextID  uint64
	nextLSN format.LSN
	log     []format.LogExtent // empty: closed
	lost    []format.LostRange // nil: as it was
	freed   []span             // what nobody names once both slots have moved on

	vectors    []format.VectorEntry // the vector runs, where newVectors
	newVectors bool
	sparing    bool // rather fail than take from the reserve

	added []format.SegmentEntry // result
	bytes int64                 // result: of the segments
}

// apply builds, writes and publishes a change, and makes it the view. On error
// nothing changed, or the DB is broken. On a full disk it does without what it
// could absorb: the reserve is for the log's turns alone.
func (db *DB) apply(c *change) error {
	if err := db.confirm(); err != nil {
		return err
	}
	v := db.view.Load()
	alone := slices.Clone(c.turns)
	dropped := db.absorb(v, c)
	db.sparing = dropped > 0 || c.sparing
	err := db.applyTo(v, c, dropped)
	db.sparing = false
	if dropped > 0 && errors.Is(err, ErrNoSpace) && db.broken.Load() == nil {
		c.turns = alone
		err = db.applyTo(v, c, 0)
	}
	return err
}

// applyTo is apply with the last segments dropped, which c.turns begins with.
func (db *DB) applyTo(v *view, c *change, dropped int) error {
	var written []span
	undo := func(err error) error {
		for _, s := range slices.Backward(written) { // so that the reserve grows back
			db.release(s)
		}
		return err
	}
	c.added, c.bytes = nil, 0
	// A segment is written before the next is built: a large batch is not held
	// in memory a second time.
	err := db.build(c.turns, func(b *segment.Built) error {
		off, err := db.writeExtent(int64(len(b.Bytes)), func(int64) []byte { return b.Bytes })
		if err != nil {
			return err
		}
		b.Entry.Offset = off
		c.added = append(c.added, b.Entry)
		c.bytes += int64(len(b.Bytes))
		written = append(written, span{off: off, len: int64(len(b.Bytes))})
		return nil
	})
	if err != nil {
		return undo(err)
	}
	next, err := db.writeCatalog(v, c, dropped, c.added, &written)
	if err != nil {
		return undo(err)
	}
	if err := db.publish(next.super); err != nil {
		return err // broken: what was written may be named by now
	}
	db.adopt(v, next, c, dropped)
	return nil
}

// absorb takes the last segments into the change where they are small, so that
// many short lives of a file don't leave as many segments. It returns how many.
func (db *DB) absorb(v *view, c *change) (dropped int) {
	for len(c.turns) > 0 && dropped < len(v.segs)-v.clean {
		s := v.segs[len(v.segs)-1-dropped]
		e := s.Entry()
		first := &c.turns[0]
		have := first.size()
		last := int64(e.ContentBytes + e.SourceBytes)
		if e.EndID() != first.first || last > max(have, absorbAlways) || last+have > segmentBytes {
			break
		}
		turns, ok := readWhole(s)
		if !ok {
			break // damaged: it stays as it is
		}
		first.first = e.FirstID
		first.turns = append(turns, first.turns...)
		dropped++
	}
	return dropped
}

// readWhole reads every turn of a segment; ok is false where one can't be read.
func readWhole(s *segment.Segment) (turns []segment.Turn, ok bool) {
	if !s.Acquire() {
		return nil, false
	}
	defer s.Release()
	for t, err := range s.All(context.Background()) {
		if err != nil {
			return nil, false
		}
		turns = append(turns, t)
	}
	return turns, uint64(len(turns)) == s.Entry().Turns
}

// writeCatalog writes the leaves that change and the root, and returns the
// view that a publication will make true.
func (db *DB) writeCatalog(v *view, c *change, dropped int, added []format.SegmentEntry, written *[]span) (*view, error) {
	next := v.derive()
	root := *v.root
	if c.lost != nil {
		root.Lost = c.lost
	}
	keep, tail := splitLeaves(v, dropped)
	root.Leaves = slices.Clone(root.Leaves[:keep])
	next.leaves = slices.Clone(v.leaves[:keep])
	for entries := append(tail, added...); len(entries) > 0; {
		n := min(len(entries), format.LeafEntries)
		ref, err := db.writeLeaf(entries[:n])
		if err != nil {
			return nil, err
		}
		*written = append(*written, span{off: ref.Offset, len: format.LeafSize})
		root.Leaves = append(root.Leaves, ref)
		next.leaves = append(next.leaves, entries[:n])
		entries = entries[n:]
	}
	root.Segments = uint64(len(v.segs) - dropped + len(added))
	if err := db.mergeRuns(next, &root, written); err != nil {
		return nil, err
	}
	if c.newVectors {
		root.Vectors = c.vectors
		next.vectors = db.openVectors(v, v.super.UUID, c.vectors)
	}
	next.root, next.lost = &root, root.Lost
	s := db.super
	s.NextID, s.NextLSN, s.Log = c.nextID, c.nextLSN, c.log
	s.State = format.StateOpen
	if len(c.log) == 0 {
		s.State = format.StateClosed
	}
	if len(root.Leaves)+len(root.Runs)+len(root.Lost)+len(root.Vectors) > 0 {
		if err := db.writeAside(&root, c, written); err != nil {
			return nil, err
		}
		var invalid error
		off, err := db.writeExtent(root.Size(), func(off int64) (b []byte) {
			b, s.RootSum, invalid = encodeRoot(&root, s.UUID, off)
			return b
		})
		if err = cmp.Or(err, invalid); err != nil {
			return nil, err
		}
		*written = append(*written, span{off: off, len: root.Size()})
		s.RootOffset, s.RootLength = off, root.Size()
	}
	next.super = s
	next.super.End = next.reach()
	return next, nil
}

// encodeRoot is a root as it will lie at off. A root that its own reader would
// refuse is an error: nothing of it may be published.
func encodeRoot(root *format.Root, uuid format.UUID, off int64) (b []byte, sum uint64, err error) {
	b, sum = root.Encode(uuid, off)
	if _, err = format.DecodeRoot(b, uuid, off, sum); err != nil {
		err = fmt.Errorf("a catalog that could not be read again: %w", err)
	}
	return b, sum, err
}

// splitLeaves returns how many leaves stay as they are when the last segments
// are dropped, and the entries of the one that does not.
func splitLeaves(v *view, dropped int) (keep int, tail []format.SegmentEntry) {
	keep = len(v.leaves)
	for keep > 0 {
		last := v.leaves[keep-1]
		if dropped == 0 && len(last) == format.LeafEntries {
			return keep, nil
		}
		keep--
		if n := len(last) - dropped; n > 0 {
			return keep, slices.Clone(last[:n])
		}
		dropped -= len(last)
	}
	return keep, nil
}

func (db *DB) writeLeaf(entries []format.SegmentEntry) (format.LeafRef, error) {
	ref := format.LeafRef{FirstID: entries[0].FirstID, Count: uint32(len(entries))}
	off, err := db.writeExtent(format.LeafSize, func(off int64) []byte {
		var b []byte
		b, ref.Sum = format.EncodeLeaf(db.super.UUID, off, entries)
		return b
	})
	ref.Offset = off
	return ref, err
}

// publish makes a state the one that both slots hold.
//
// REQUIRES: confirm has succeeded.
func (db *DB) publish(s format.Superblock) error {
	s.NextSegment, s.NextCycle = db.super.NextSegment, db.super.NextCycle
	for range 2 {
		if err := db.putSlot(s); err != nil {
			return err
		}
		if mutateOnce {
			break
		}
	}
	return nil
}

// putSlot writes a state into the slot of the older epoch and syncs it.
func (db *DB) putSlot(s format.Superblock) error {
	slot := int64(format.SlotA)
	if db.slot == format.SlotA {
		slot = format.SlotB
	}
	if err := writeSlot(&db.opts, db.out, &s, db.super.Epoch+1, slot); err != nil {
		return db.breakOff(err)
	}
	if err := db.sync(); err != nil {
		return err
	}
	db.super, db.slot = s, slot
	return nil
}

// confirm makes what this DB found at open durable, and the state of both
// slots, before it overwrites a byte of free space: an earlier life may have
// left the chosen superblock in the page cache only, or have died between its
// two publications. The first write repeats the bytes that are there, so that a
// torn one takes nothing away.
func (db *DB) confirm() error {
	if db.confirmed || mutateConfirm {
		return nil
	}
	if _, err := db.out.WriteAt(db.found.view.super.Encode(db.slot), db.slot); err != nil {
		return db.breakOff(err)
	}
	if err := db.sync(); err != nil {
		return err
	}
	if err := db.opts.FS.SyncDir(db.path); err != nil {
		return db.breakOff(err)
	}
	if !db.found.twins {
		s := db.found.view.super
		s.NextSegment, s.NextCycle = db.super.NextSegment, db.super.NextCycle
		lsn := db.super.NextLSN
		if err := db.putSlot(s); err != nil {
			return err
		}
		db.super.NextLSN = lsn
	}
	db.confirmed, db.found = true, nil
	return nil
}

// confirmFound comes before a batch is acknowledged of which the file has every
// turn already: a killed life may have left them in the page cache only. With
// the other policies Sync and Close do it.
func (db *DB) confirmFound() error {
	if db.opts.Sync != SyncAlways {
		db.relied = true
		return nil
	}
	return db.confirm()
}

// sync makes everything written durable. Syncs are serialised, and each fails
// after one that failed: the system reports a lost write only once.
func (db *DB) sync() error {
	db.syncing.Lock()
	defer db.syncing.Unlock()
	if err := db.broken.Load(); err != nil {
		return *err
	}
	if err := db.file.Sync(); err != nil {
		return db.breakOff(syncError{err})
	}
	return nil
}

// syncError explains what a failed sync means to who waits for it.
type syncError struct{ err error }

func (e syncError) Error() string {
	return "sync: " + e.err.Error() + "; whether the last turns were kept is known after the next open"
}

func (e syncError) Unwrap() error { return e.err }

// adopt makes a published state the view, and frees what only older states
// named.
func (db *DB) adopt(old, next *view, c *change, dropped int) {
	next.super = db.super
	kept := len(old.segs) - dropped
	segs := slices.Clone(old.segs[:kept])
	for _, e := range c.added {
		segs = append(segs, segment.Open(db.file, db.path, next.super.UUID, e, db.readOptions()))
	}
	db.changeView(func(v *view) {
		v.super, v.root, v.leaves, v.segs, v.runs, v.lost = next.super, next.root, next.leaves, segs, next.runs, next.lost
		v.vectors = next.vectors
		v.clean, v.apart = uncovered(v)
		v.nextID = max(v.nextID, c.nextID)
		v.logs = slices.DeleteFunc(slices.Clone(v.logs), func(r run) bool { return r.end() <= c.nextID })
	})
	for _, s := range old.segs[kept:] {
		s.Close()
	}
	for _, r := range old.runs {
		if !slices.Contains(next.runs, r) {
			r.Close()
		}
	}
	closeVectors(old.vectors, next.vectors)
	if len(c.added) > 0 {
		db.embedding.poke()
	}
	freed := forgone(old, db.view.Load())
	if db.wipeEdges(c.freed) {
		freed = append(freed, c.freed...)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, s := range freed {
		db.space.retire(s.off, s.len)
	}
}

// wipeEdges ends the life of log extents that no superblock names any more:
// trailer and header go before the space between them is used again. Who copies
// the file front to back, or back to front, meanwhile may see an old edge and
// then new bytes behind it, but not the other old edge as well; so the copy is
// refused, where it would be taken for a log with a torn tail. Nothing depends
// on these writes after a crash, so they are not synced. It reports whether the
// space may be used.
func (db *DB) wipeEdges(extents []span) bool {
	zeros := make([]byte, format.LogEdge)
	for _, x := range extents {
		for _, at := range []int64{x.end() - format.LogEdge, x.off} {
			if _, err := db.out.WriteAt(zeros, at); err != nil {
				db.log.Warn("space of the log is left unused", "offset", x.off, "bytes", x.len, "err", err)
				return false
			}
		}
	}
	return true
}

// forgone lists the catalog pages, runs and segments that only the older of
// two views names.
func forgone(old, now *view) (all []span) {
	named := map[int64]bool{}
	for _, s := range now.used() {
		named[s.off] = true
	}
	for _, s := range old.used() {
		if !named[s.off] && !isLog(old, s.off) {
			all = append(all, s)
		}
	}
	return all
}

func isLog(v *view, off int64) bool {
	for _, x := range v.super.Log {
		if x.Offset == off {
			return true
		}
	}
	return false
}
