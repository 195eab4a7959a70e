package engine

import (
	"errors"
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// TestDamageHidesOnlyItself: a search goes around a damaged index, summary or
// turn, and says where it is.
func TestDamageHidesOnlyItself(t *testing.T) {
	const segments, victim = 4, 1
	for _, c := range []struct {
		name  string
		query string
		spoil func(t *testing.T, mem *disk.Mem, db *DB, e format.SegmentEntry)
	}{
		{"terms", "quinces", spoilSection(format.SectionTerms)},
		{"hot", "quinces", spoilSection(format.SectionHot)},
		{"turn", "quinces", spoilTurn},
		{"phrase", `"ripe quinces"`, spoilTurn},
	} {
		for _, when := range []string{"before", "after"} { // the index was opened
			t.Run(c.name+"/"+when, func(t *testing.T) {
				mem := disk.NewMem(1)
				o := Options{FS: mem, Inline: true, ReuseDelay: -1}
				db := open(t, "/a", &o)
				for i := range segments {
					appendTurns(t, db, Turn{Role: "user", Thread: "garden", Content: fmt.Appendf(nil, "ripe quinces of tree %d", i), Source: make([]byte, 3<<20)})
					if err := db.Checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
				}
				v := db.view.Load()
				if len(v.segs) != segments {
					t.Fatalf("%d segments", len(v.segs))
				}
				if when == "after" {
					if hits, err := db.Search(ctx, Query{Text: c.query}); len(hits) != segments || err != nil {
						t.Fatalf("%d hits, %v", len(hits), err)
					}
				}
				c.spoil(t, mem, db, v.segs[victim].Entry())
				for range 2 {
					hits, err := db.Search(ctx, Query{Text: c.query})
					var where *CorruptError
					if !errors.Is(err, ErrCorrupt) || !errors.As(err, &where) || where.Offset == 0 || where.Path != "/a" {
						t.Errorf("error %v", err)
					}
					found := map[TurnID]bool{}
					for _, h := range hits {
						found[h.ID] = true
						if h.Role != "user" || h.Thread != "garden" {
							t.Errorf("%+v", h)
						}
					}
					for i := range segments {
						if id := TurnID(i + 1); i != victim && !found[id] {
							t.Errorf("#%d is lost too", id)
						}
					}
				}
				if hits, err := db.Search(ctx, Query{Text: "absent"}); len(hits) > 0 {
					t.Errorf("%d hits, %v", len(hits), err)
				}
			})
		}
	}
}

func spoilSection(s format.SectionType) func(*testing.T, *disk.Mem, *DB, format.SegmentEntry) {
	return func(t *testing.T, mem *disk.Mem, db *DB, e format.SegmentEntry) {
		off, n := sectionOf(t, mem.Bytes("/a"), db.view.Load().super.UUID, e, s)
		spoil(t, mem, off, n)
	}
}

func spoilTurn(t *testing.T, mem *disk.Mem, db *DB, e format.SegmentEntry) {
	where, err := db.Where(TurnID(e.FirstID))
	if err != nil {
		t.Fatal(err)
	}
	spoil(t, mem, where[0].Offset+format.BlockHeaderSize, int64(where[0].Stored))
}
