package engine

import (
	"time"

	"ctxdb/wal"
)

// refreshPatience bounds how long a reader follows a file that changes under
// it before it calls a mismatch damage. A writer lets freed space rest for a
// second, so one or two attempts are enough.
const refreshPatience = 2 * time.Second

type patience struct{ until time.Time }

func newPatience() patience { return patience{time.Now().Add(refreshPatience)} }

func (p patience) left() bool { return time.Now().Before(p.until) }

// refresh brings a reader up to date and reports whether the view that the
// caller used was not.
func (db *DB) refresh(seen *view) (changed bool, err error) {
	db.refreshing.Lock()
	defer db.refreshing.Unlock()
	if db.closed.Load() {
		return false, ErrClosed // Close has closed the last view
	}
	if v := db.view.Load(); v != seen {
		return true, nil
	}
	return db.askSlots(seen)
}

// refreshNow is refresh by superblocks that are read after it was called.
func (db *DB) refreshNow() error {
	db.refreshing.Lock()
	defer db.refreshing.Unlock()
	if db.closed.Load() {
		return ErrClosed
	}
	_, err := db.askSlots(db.view.Load())
	return err
}

// askSlots holds the view against the superblocks.
//
// REQUIRES: refreshing is locked.
func (db *DB) askSlots(v *view) (changed bool, err error) {
	supers, err := db.readSlots()
	if err != nil {
		return false, db.readAgain()
	}
	for _, s := range supers {
		if s.Epoch == v.super.Epoch && s.Nonce == v.super.Nonce && (len(supers) == 1 || sameState(supers)) {
			return db.follow(v)
		}
	}
	return true, db.readAgain()
}

// sameState reports whether both slots say the same but for epoch and nonce:
// no publication is half done.
func sameState(s []slotted) bool {
	return s[0].RootOffset == s[1].RootOffset && s[0].RootSum == s[1].RootSum && s[0].NextLSN == s[1].NextLSN &&
		s[0].NextCycle == s[1].NextCycle && s[0].State == s[1].State && len(s[0].Log) == len(s[1].Log)
}

// follow reads on in the log of an unchanged superblock.
func (db *DB) follow(v *view) (changed bool, err error) {
	if len(v.super.Log) == 0 || db.tail == nil {
		return false, nil
	}
	live, err := db.file.LockedByOther()
	if err != nil {
		return false, err
	}
	if live {
		grown, err := db.tail.from.Grown(db.file, v.super.UUID, v.super.Log)
		if isDamage(cutShort(err)) {
			return true, db.readAgain() // the extent was recycled or cut off: the superblocks moved
		}
		if err != nil || !grown {
			return false, err
		}
	}
	res, err := wal.Scan(db.file, v.super.UUID, v.super.Log, wal.ScanOptions{
		FirstLSN: v.super.NextLSN, NextID: v.super.NextID, PromisedOnly: live, From: &db.tail.from,
	})
	if isDamage(cutShort(err)) || err == nil && (!res.Resumed || len(res.Damages) > 0) {
		return true, db.readAgain()
	}
	if err != nil {
		return false, err
	}
	next := v.derive()
	next.logs, next.lost = collect(v.logs, v.lost, v.super.Log, res)
	next.nextID = max(v.nextID, res.NextID)
	db.tail = &tail{from: res.End}
	if next.nextID == v.nextID {
		return false, nil
	}
	db.view.Store(next)
	return true, nil
}

// readAgain loads the state anew. Beside a writer, a state that moves while it
// is read is read again, for a bounded time; without one, what is damaged is
// damaged.
func (db *DB) readAgain() error {
	patience := newPatience()
	for {
		err := db.reload()
		if err == nil || !isDamage(err) || !patience.left() || db.closed.Load() {
			return err
		}
		if live, lerr := db.file.LockedByOther(); lerr != nil || !live {
			return db.reload()
		}
		time.Sleep(time.Millisecond)
	}
}

// reload makes what the file says now the view.
func (db *DB) reload() error {
	live, err := db.file.LockedByOther()
	if err != nil {
		return err
	}
	st, err := db.load(live)
	if err != nil {
		return err
	}
	if !live {
		// A writer may have come in between, and have written what is not
		// durable yet.
		if came, err := db.file.LockedByOther(); err != nil {
			return err
		} else if came {
			if st, err = db.load(true); err != nil {
				return err
			}
		}
	}
	first := db.view.Load() == nil
	old := db.view.Load()
	db.view.Store(st.view)
	db.tail = nil
	if st.scan != nil {
		db.tail = &tail{from: st.scan.End}
	}
	if first {
		db.describe(st)
	}
	if old != nil {
		closeUnshared(old, st.view)
	}
	return nil
}

// closeUnshared closes the readers of segments and runs that only the old view
// has.
func closeUnshared(old, now *view) {
	kept := map[any]bool{}
	for _, s := range now.segs {
		kept[s] = true
	}
	for _, s := range old.segs {
		if !kept[s] {
			s.Close()
		}
	}
	for _, r := range old.runs {
		r.Close()
	}
	closeVectors(old.vectors, now.vectors)
}

// describe fills in what Open found.
func (db *DB) describe(st *loaded) {
	for _, l := range st.view.lost {
		db.recovery.Lost += l.Count
	}
	if st.scan == nil {
		db.recovery.Clean = true
		return
	}
	db.recovery.Frames = len(st.scan.Entries)
	db.recovery.TornBytes, db.recovery.TornAt = st.scan.TornBytes, st.scan.TornAt
	for _, r := range st.view.logs {
		db.recovery.Turns += uint64(len(r.turns))
	}
}
