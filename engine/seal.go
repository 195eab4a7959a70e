package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/segment"
)

// sealJob puts a full log extent away while appends go on in the next one.
type sealJob struct {
	full     *run
	next     format.LogExtent // the extent in use meanwhile
	firstLSN format.LSN       // of its first frame
	spare    format.LogExtent // result: the extent that follows; Length 0: no space for one
	err      error
	done     chan struct{}
}

func newSealJob(full *run, next format.LogExtent, first format.LSN) *sealJob {
	return &sealJob{full: full, next: next, firstLSN: first, done: make(chan struct{})}
}

// runJob seals the full extent and prepares the one after the next. Sealing
// goes first: it gives space back.
func (db *DB) runJob(j *sealJob) {
	defer close(j.done)
	start := time.Now()
	turns, err := contiguous([]run{*j.full})
	if err != nil {
		j.err = db.breakOff(err)
		return
	}
	spare, err := db.newExtent(j.full.extent.Length + j.next.Length) // both are still to be sealed
	if err != nil && !errors.Is(err, ErrNoSpace) {
		j.err = err
		return
	}
	if err == nil {
		if err := db.sync(); err != nil {
			j.err = err
			return
		}
	}
	next := j.next
	next.FirstLSN = j.firstLSN
	c := change{
		turns: turns, nextID: j.full.end(), nextLSN: j.firstLSN,
		log: []format.LogExtent{next}, freed: []span{{off: j.full.extent.Offset, len: j.full.extent.Length}},
	}
	if spare.Length > 0 {
		c.log = append(c.log, spare)
	}
	if j.err = db.apply(&c); j.err != nil {
		if spare.Length > 0 {
			db.release(span{off: spare.Offset, len: spare.Length})
		}
		return
	}
	j.spare = spare
	db.keys.dropBelow(j.full.end())
	db.log.Info("seal", "turns", len(j.full.turns), "segments", len(c.added), "bytes", c.bytes, "took", time.Since(start))
}

// putAway seals everything that is logged, and the turns of a large batch
// behind it, and publishes a state without log: checkpoint, Close, recovery.
//
// REQUIRES: the leader token is held, no sealing is under way, no group is
// staged.
func (db *DB) putAway(large *laid) error {
	v := db.view.Load()
	if v.super.State == format.StateClosed && large == nil {
		if _, changed := db.aside.changed(db); !changed {
			return nil
		}
	}
	start := time.Now()
	turns, err := contiguous(v.logs)
	if err != nil {
		return db.breakOff(err)
	}
	c := change{turns: turns, nextID: db.nextID, nextLSN: db.super.NextLSN, lost: v.lost}
	if db.wal != nil {
		c.nextLSN = db.wal.Next()
	}
	if large != nil {
		for i, t := range large.sealable() {
			c.turns = appendTurn(c.turns, large.first+uint64(i), t)
		}
		c.nextID += uint64(len(large.turns))
	}
	for _, x := range db.super.Log {
		c.freed = append(c.freed, around(span{off: x.Offset, len: x.Length}, v.lost)...)
	}
	if err := db.apply(&c); err != nil {
		return err
	}
	db.wal, db.current, db.spare, db.job = nil, nil, format.LogExtent{}, nil
	db.nextID, db.unsynced, db.witness = c.nextID, false, false
	db.keys.dropBelow(db.nextID)
	db.log.Info("checkpoint", "segments", len(c.added), "bytes", c.bytes, "took", time.Since(start))
	return nil
}

// placeLarge commits a batch that no log extent takes: it is sealed directly
// behind what is logged.
func (db *DB) placeLarge(b *batch) error {
	if err := db.waitSealed(b.ctx); err != nil {
		return err
	}
	if err := db.writable(); err != nil {
		return err
	}
	var g group
	l, err := db.layOut(&g, b)
	if err != nil {
		return err
	}
	if err := db.file.Check(); err != nil {
		return db.breakOff(err)
	}
	if err := db.putAway(l); err != nil {
		return err
	}
	b.ids = l.ids
	b.finish(nil)
	return nil
}

// around is a span without the lost ranges whose bytes are kept.
func around(s span, lost []format.LostRange) []span {
	parts := []span{s}
	for _, l := range lost {
		if l.Length == 0 {
			continue
		}
		var rest []span
		for _, p := range parts {
			from, to := max(p.off, l.Offset), min(p.end(), l.Offset+l.Length)
			if from >= to {
				rest = append(rest, p)
				continue
			}
			if p.off < from {
				rest = append(rest, span{off: p.off, len: from - p.off})
			}
			if to < p.end() {
				rest = append(rest, span{off: to, len: p.end() - to})
			}
		}
		parts = rest
	}
	return parts
}

// build makes segments of stretches, each of about segmentBytes, and hands out
// one after the other.
func (db *DB) build(turns []stretch, each func(*segment.Built) error) error {
	for _, s := range turns {
		for len(s.turns) > 0 {
			n := prefix(s.turns, segmentBytes)
			b, err := db.buildSegment(s.first, s.turns[:n])
			if err != nil {
				return err
			}
			if err := each(b); err != nil {
				return err
			}
			s.first += uint64(n)
			s.turns = s.turns[n:]
		}
	}
	return nil
}

func (db *DB) buildSegment(first uint64, turns []segment.Turn) (*segment.Built, error) {
	nonce, err := random(&db.opts)
	if err != nil {
		return nil, err
	}
	id := segment.Identity{UUID: db.super.UUID, Number: db.super.NextSegment, Nonce: nonce, FirstID: first}
	b, err := segment.Build(id, turns, segment.BuildOptions{Extra: func() []segment.Extra { return db.indexTurns(turns) }})
	if err == nil {
		db.super.NextSegment++
	}
	return b, err
}

// indexTurns makes a segment's index; nil where that fails, a panic included,
// which nobody could recover in the goroutine that this is called in, and which
// every next Open would meet again. Turns matter more than finding them.
func (db *DB) indexTurns(turns []segment.Turn) (extra []segment.Extra) {
	index := extras
	if db.index.make != nil {
		index = db.index.make
	}
	var err error
	defer func() {
		if p := recover(); p != nil {
			extra, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			db.log.Warn("a segment is sealed without its index", "turns", len(turns), "err", err)
		}
	}()
	extra, err = index(turns)
	return extra
}

// prefix is the number of turns, at least one, that together take no more than
// limit bytes.
func prefix(turns []segment.Turn, limit int64) int {
	var n int64
	for i := range turns {
		if n += turnSize(&turns[i]); n > limit && i > 0 {
			return i
		}
	}
	return len(turns)
}

// writeExtent writes bytes to free space, in pieces that are synced each, so
// that commits beside it wait for little. On a full disk it takes the reserve.
func (db *DB) writeExtent(n int64, at func(off int64) []byte) (off int64, err error) {
	off = db.allocate(n)
	err = db.writeSynced(at(off), off)
	if err == nil {
		return off, nil
	}
	db.release(span{off: off, len: n})
	if !isNoSpace(err) {
		return 0, db.breakOff(err)
	}
	if db.sparing {
		return 0, db.spaceError(err)
	}
	db.mu.Lock()
	off, ok := db.space.allocReserved(n)
	db.mu.Unlock()
	if !ok {
		return 0, db.spaceError(err)
	}
	if err := db.writeSynced(at(off), off); err != nil {
		return 0, db.breakOff(err)
	}
	return off, nil
}

// writeSynced writes and syncs; a failed sync breaks the DB.
func (db *DB) writeSynced(b []byte, off int64) error {
	for len(b) > 0 {
		n := min(len(b), syncChunk)
		piece := b[:n]
		if pad := format.AlignUp(int64(n)) - int64(n); pad > 0 { // the end: extents are whole
			piece = append(slices.Clone(piece), make([]byte, pad)...)
		}
		if err := disk.WriteFull(db.out, piece, off); err != nil {
			return fmt.Errorf("write %d bytes at offset %d: %w", n, off, err)
		}
		if err := db.sync(); err != nil {
			return err
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}
