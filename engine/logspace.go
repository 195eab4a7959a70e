package engine

import (
	"context"
	"fmt"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/wal"
)

// makeRoom sees to it that the log takes a frame with a payload of size bytes:
// it begins a log, rotates to the next extent, or begins a larger log.
//
// REQUIRES: no group is staged; size <= largestFrame.
func (db *DB) makeRoom(ctx context.Context, size int64) error {
	if db.wal == nil {
		return db.beginLog(size)
	}
	if wal.Capacity(db.spare.Length) >= size || db.spare.Length == 0 && wal.Capacity(db.logBytes) >= size {
		return db.rotate(ctx)
	}
	// The extents are too small for this batch: put them away and begin anew.
	if err := db.waitSealed(ctx); err != nil {
		return err
	}
	if err := db.putAway(nil); err != nil {
		return err
	}
	return db.beginLog(size)
}

// beginLog gives a closed file a log: two extents, named by both superblocks
// before their first frame, and a reserve that sealing them can rely on.
func (db *DB) beginLog(size int64) error {
	if err := db.confirm(); err != nil {
		return err
	}
	for db.logBytes < db.opts.LogBytes && wal.Capacity(db.logBytes)/2 < size {
		db.logBytes = min(2*db.logBytes, db.opts.LogBytes)
	}
	a, err := db.newExtent(db.logBytes)
	if err != nil {
		return err
	}
	b, err := db.newExtent(db.logBytes)
	if err != nil {
		db.release(span{off: a.Offset, len: a.Length})
		return err
	}
	if err := db.sync(); err != nil {
		return err
	}
	a.FirstLSN = db.super.NextLSN
	next := db.view.Load().derive()
	next.super = db.super
	next.super.State, next.super.Log = format.StateOpen, []format.LogExtent{a, b}
	next.super.End = next.reach()
	if err := db.publish(next.super); err != nil {
		return err
	}
	db.changeView(func(v *view) { v.super = db.super })
	db.use(a, a.FirstLSN)
	db.spare = b
	return nil
}

// use makes an extent the one that frames go to.
func (db *DB) use(x format.LogExtent, first format.LSN) {
	db.wal = wal.NewWriter(db.out, db.super.UUID, x, first)
	db.current = &run{extent: x, first: db.nextID}
	db.synced, db.unsynced, db.witness = first-1, false, false
}

// newExtent allocates and prepares a log extent of db.logBytes, with the
// reserve for sealing it and the others, of unsealed bytes together, that may be
// full by then. It does not sync. The error is ErrNoSpace on a full disk; nothing
// changed then.
func (db *DB) newExtent(unsealed int64) (format.LogExtent, error) {
	if err := db.secureReserve(unsealed + db.logBytes); err != nil {
		return format.LogExtent{}, err
	}
	salt, err := random(&db.opts)
	if err != nil {
		return format.LogExtent{}, err
	}
	x := format.LogExtent{Offset: db.allocate(db.logBytes), Length: db.logBytes, Salt: salt, Cycle: db.super.NextCycle}
	db.super.NextCycle++
	if err := wal.Prepare(db.out, db.super.UUID, x); err != nil {
		db.release(span{off: x.Offset, len: x.Length})
		return format.LogExtent{}, db.spaceError(err)
	}
	return x, nil
}

// secureReserve holds space back that is written and so can't be refused:
// enough to seal log extents of so many bytes, and to publish the results. Text
// in which hardly a word repeats takes up to 1.43 times its log, its terms
// included.
func (db *DB) secureReserve(logBytes int64) error {
	need := format.AlignUp(logBytes + logBytes/2 + 96<<10)
	db.mu.Lock()
	have := db.space.reserve
	db.mu.Unlock()
	if have.len >= need {
		return nil
	}
	off := db.allocate(need)
	if err := disk.WriteZeros(db.out, off, need); err != nil {
		db.release(span{off: off, len: need})
		return db.spaceError(err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.space.add(db.space.reserve)
	db.space.reserve, db.space.secured = span{off: off, len: need}, off
	return nil
}

// rotate makes the spare extent the current one and seals the full one, in the
// background unless the options say otherwise. A writer that outruns sealing
// waits here.
func (db *DB) rotate(ctx context.Context) error {
	if err := db.waitSealed(ctx); err != nil {
		return err
	}
	if db.spare.Length == 0 {
		// Sealing had no space for another extent. Put everything away and
		// begin anew; on a disk that is still full this is ErrNoSpace.
		if err := db.putAway(nil); err != nil {
			return err
		}
		return db.beginLog(0)
	}
	if err := db.syncLog(); err != nil {
		return err
	}
	full, next := db.current, db.wal.Next()
	db.use(db.spare, next)
	db.spare = format.LogExtent{}
	db.logBytes = min(2*db.logBytes, db.opts.LogBytes)
	db.job = newSealJob(full, db.current.extent, next)
	if db.opts.Inline {
		db.runJob(db.job)
		return db.waitSealed(ctx)
	}
	go db.runJob(db.job)
	return nil
}

// waitSealed waits until no sealing is under way, and until freed space has
// rested where too much of it rests. A sealing that failed for want of space
// is tried again.
func (db *DB) waitSealed(ctx context.Context) error {
	if j := db.job; j != nil {
		select {
		case <-j.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if broken := db.broken.Load(); broken != nil {
			return *broken // superblocks may name what the sealing wrote: nothing is tried again
		}
		if j.err != nil {
			db.job = newSealJob(j.full, j.next, j.firstLSN)
			db.runJob(db.job)
			if db.job.err != nil {
				return db.job.err
			}
		}
		db.spare, db.job = db.job.spare, nil
	}
	for {
		db.mu.Lock()
		n, wait := db.space.resting()
		db.mu.Unlock()
		if n <= maxResting {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (db *DB) allocate(n int64) int64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.space.settle()
	return db.space.alloc(n)
}

// release gives back what was allocated and never named.
func (db *DB) release(s span) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.space.undo(s.off, s.len)
}

// spaceError is ErrNoSpace for a full disk; any other failed write breaks the
// DB.
func (db *DB) spaceError(err error) error {
	if isNoSpace(err) {
		return fmt.Errorf("%w (%w)", ErrNoSpace, err)
	}
	return db.breakOff(err)
}
