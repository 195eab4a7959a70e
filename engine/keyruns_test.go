package engine

import (
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// bulky is a turn that fills more than half a segment and costs little to seal.
func bulky(i int) Turn {
	return Turn{Key: fmt.Sprint("key ", i), Role: RoleMeta, Source: make([]byte, 3<<20)}
}

// However many segments one batch makes, few places are asked for a key.
func TestLargeBatchLeavesFewPlacesToLookForAKey(t *testing.T) {
	if trial.Race {
		t.Skip("one goroutine, and much to compress")
	}
	db := open(t, "/a", &Options{FS: disk.NewMem(1), Inline: true, ReuseDelay: -1})
	var turns []Turn
	for i := range 30 {
		turns = append(turns, bulky(i))
	}
	appendTurns(t, db, turns...)
	v := db.view.Load()
	if len(v.segs) < 30 {
		t.Fatalf("%d segments", len(v.segs))
	}
	if behind := len(v.segs) - v.clean; behind > runFan {
		t.Errorf("%d of %d segments behind the last of %d runs", behind, len(v.segs), len(v.runs))
	}
	for i := range turns {
		if id, err := db.Lookup(turns[i].Key); err != nil || id != TurnID(i+1) {
			t.Errorf("key %d: turn %d, %v", i, id, err)
		}
	}
	wellFormed(t, db)
}

// unowned is the space, in bytes, that is neither in use nor free.
func unowned(db *DB) int64 {
	n := db.space.end - format.FirstExtent - db.space.reserve.len
	for _, u := range db.view.Load().used() {
		n -= format.AlignUp(u.len)
	}
	for _, f := range db.space.free {
		n -= f.len
	}
	return n
}

// A run that is merged into a higher one in the seal that made it gives its
// space back.
func TestMergingRunsLosesNoSpace(t *testing.T) {
	if trial.Race {
		t.Skip("one goroutine, and much to compress")
	}
	db := open(t, "/a", &Options{FS: disk.NewMem(1), Inline: true, ReuseDelay: -1})
	level := uint32(0)
	for i := range runFan*runFan + 2 {
		appendTurns(t, db, bulky(i))
		if err := db.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		if n := unowned(db); n != 0 {
			t.Fatalf("after segment %d: %d bytes are nobody's", i+1, n)
		}
		for _, r := range db.view.Load().root.Runs {
			level = max(level, r.Level)
		}
	}
	if level < 2 {
		t.Error("no runs were merged")
	}
	wellFormed(t, db)
}
