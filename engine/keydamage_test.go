package engine

import (
	"errors"
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// sectionOf finds a section of a sealed segment: offset in the file and length.
func sectionOf(t *testing.T, file []byte, uuid format.UUID, e format.SegmentEntry, want format.SectionType) (off, n int64) {
	t.Helper()
	h := format.SegmentHeader{UUID: uuid, Number: e.Number, Nonce: e.Nonce, FirstID: e.FirstID, Turns: e.Turns, Length: e.Length}
	tail := e.Offset + e.Length - format.FooterSize
	f, err := format.DecodeFooter(file[tail:], &h, tail)
	if err != nil {
		t.Fatal(err)
	}
	at := e.Offset + f.TableOffset
	table, err := format.DecodeSections(file[at:tail], &h, &f, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table {
		if s.Type == want {
			return e.Offset + s.Offset, s.Length
		}
	}
	t.Fatalf("segment %d has no section %v", e.Number, want)
	return 0, 0
}

// spoil overwrites a range of a file, as a bad disk does.
func spoil(t *testing.T, mem *disk.Mem, off, n int64) {
	t.Helper()
	f, err := mem.Open("/a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := disk.WriteZeros(f, off, n); err != nil {
		t.Fatal(err)
	}
}

// segmentEach makes a file of n segments with a key each.
func segmentEach(t *testing.T, db *DB, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		appendTurns(t, db, bulky(i))
		if err := db.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedKeyPagesAreNotForEver: keys of a segment whose key page is damaged
// are found among its turns, writing goes on, Verify reports it, and the next
// merge needs the page no more. Where a turn is damaged too, keys stay undecided
// that may be its own, and the other segments are merged all the same.
func TestDamagedKeyPagesAreNotForEver(t *testing.T) {
	if trial.Race {
		t.Skip("one goroutine, and much to compress")
	}
	for _, hopeless := range []bool{false, true} {
		for _, victim := range []int{3, 0}[:trial.Size(2, 1)] {
			t.Run(fmt.Sprintf("hopeless=%v/segment=%d", hopeless, victim), func(t *testing.T) {
				mem := disk.NewMem(1)
				o := Options{FS: mem, Inline: true, ReuseDelay: -1}
				db := open(t, "/a", &o)
				segmentEach(t, db, 0, runFan-2)
				v := db.view.Load()
				e := v.segs[victim].Entry()
				off, n := sectionOf(t, mem.Bytes("/a"), v.super.UUID, e, format.SectionKeys)
				spoil(t, mem, off, n)
				if hopeless {
					spoil(t, mem, e.Offset+format.SegmentHeaderSize+format.BlockHeaderSize, 8)
				}
				if findings := count(db); findings == 0 {
					t.Error("verify found nothing")
				}
				if _, err := db.Lookup("nobody's"); hopeless != errors.Is(err, ErrCorrupt) || !hopeless && !errors.Is(err, ErrNotFound) {
					t.Errorf("an absent key: %v", err)
				}
				if _, err := db.Append(ctx, bulky(1000)); hopeless != errors.Is(err, ErrCorrupt) {
					t.Errorf("append with a key: %v", err)
				}
				for range 2 * runFan {
					turn := bulky(0)
					turn.Key = ""
					appendTurns(t, db, turn)
					if err := db.Checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
				}
				if !hopeless {
					segmentEach(t, db, runFan-2, 2*runFan)
				}
				for i := range runFan - 2 {
					id, err := db.Lookup(fmt.Sprint("key ", i))
					if i == victim && hopeless {
						if !errors.Is(err, ErrCorrupt) {
							t.Errorf("the key of a lost turn: turn %d, %v", id, err)
						}
					} else if err != nil && !hopeless || err == nil && id != TurnID(i+1) {
						t.Errorf("key %d: turn %d, %v", i, id, err)
					}
				}
				v = db.view.Load()
				if len(v.runs) == 0 {
					t.Error("no run was made")
				}
				behind := 0
				for _, s := range v.segs[v.clean:] {
					behind += int(min(s.Entry().Keys, 1))
				}
				if behind > runFan {
					t.Errorf("%d segments with keys behind the last run", behind)
				}
				if apart := len(v.apart); hopeless != (apart == 1) {
					t.Errorf("%d segments are in no run", apart)
				}
				mem.Restart()
				again := open(t, "/a", &o)
				if len(again.view.Load().apart) != len(v.apart) {
					t.Error("reopened, and other segments are in no run")
				}
			})
		}
	}
}

// TestDamagedRunIsMergedFromItsSegments.
func TestDamagedRunIsMergedFromItsSegments(t *testing.T) {
	if trial.Race {
		t.Skip("one goroutine, and much to compress")
	}
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true, ReuseDelay: -1})
	segmentEach(t, db, 0, 3*runFan)
	r := db.view.Load().root.Runs[1]
	spoil(t, mem, r.Offset, r.Length)
	segmentEach(t, db, 3*runFan, runFan*runFan+3)
	top := uint32(0)
	for _, r := range db.view.Load().root.Runs {
		top = max(top, r.Level)
	}
	if top < 2 {
		t.Error("the runs were not merged")
	}
	for i := range runFan*runFan + 3 {
		if id, err := db.Lookup(fmt.Sprint("key ", i)); err != nil || id != TurnID(i+1) {
			t.Errorf("key %d: turn %d, %v", i, id, err)
		}
	}
	wellFormed(t, db)
}

func count(db *DB) (findings int) {
	for range db.Verify(ctx) {
		findings++
	}
	return findings
}
