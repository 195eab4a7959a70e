package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/segment"
)

// TestIndexOfAnotherVersion: what another program made is no damage. A search
// goes without it and says how many turns it can't find; nothing else is lost.
func TestIndexOfAnotherVersion(t *testing.T) {
	const victim = 1
	for _, c := range []struct {
		name    string
		section format.SectionType
		at      int // of the version in the section
		query   Query
		lost    bool // the victim's turns
		note    string
	}{
		{"terms", format.SectionTerms, 8, Query{Text: "quinces"}, true, "the words of 2 turns can't be searched, the first are of #3 to #4: index part of another version: 77"},
		{"hot", format.SectionHot, 0, Query{Text: "quinces"}, false, ""},
		{"vectors", format.SectionVectors, 0, Query{Vector: []float32{1, 0}}, true, "the vectors of 2 turns can't be searched, the first are of #3 to #4: vectors of another version: 77"},
		{"both", format.SectionVectors, 0, Query{Text: "quinces", Vector: []float32{1, 0}}, false, "the vectors of 2 turns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := disk.NewMem(1)
			o := Options{FS: mem, Inline: true, ReuseDelay: -1}
			db := open(t, "/a", &o)
			for i := range 3 {
				turns := make([]Turn, 2)
				for j := range turns {
					turns[j] = Turn{Role: "user", Content: fmt.Appendf(nil, "ripe quinces of tree %d, branch %d", i, j), Embedding: []float32{1, float32(i)}}
				}
				turns[0].Source = make([]byte, 3<<20)
				appendTurns(t, db, turns...)
				if err := db.Checkpoint(ctx); err != nil {
					t.Fatal(err)
				}
			}
			v := db.view.Load()
			if len(v.segs) != 3 {
				t.Fatalf("%d segments", len(v.segs))
			}
			e := v.segs[victim].Entry()
			off, _ := sectionOf(t, mem.Bytes("/a"), v.super.UUID, e, c.section)
			page := bytes.Clone(mem.Bytes("/a")[off : off+format.IndexPageSize])
			page[c.at] = 77
			format.SealDataPage(page, v.super.UUID, e.Nonce, c.section, 0)
			overwrite(t, mem, page, off)
			for range 2 {
				found, err := db.Find(ctx, c.query)
				if err != nil {
					t.Fatal(err)
				}
				here := map[TurnID]bool{}
				for _, h := range found.Hits {
					here[h.ID] = true
					if h.Role != "user" || h.Summary == "" {
						t.Errorf("%+v", h)
					}
				}
				for id := TurnID(1); id <= 6; id++ {
					if of := uint64(id) >= e.FirstID && uint64(id) < e.EndID(); here[id] != !(of && c.lost) {
						t.Errorf("#%d: found %v", id, here[id])
					}
				}
				notes := strings.Join(found.Notes, "\n")
				if (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
					t.Errorf("notes %q", notes)
				}
			}
			for f, err := range db.Verify(ctx) {
				t.Errorf("verify: %v, %v", f, err)
			}
		})
	}
}

// TestSearchSaysWhatHasNoIndex: turns that were sealed without an index are not
// passed over in silence.
func TestSearchSaysWhatHasNoIndex(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1), Inline: true})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("ripe quinces")})
	db.index.make = func([]segment.Turn) ([]segment.Extra, error) { return nil, nil }
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	found, err := db.Find(ctx, Query{Text: "quinces"})
	if err != nil || len(found.Hits) != 0 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "1 turns can't be searched, the first are of #1 to #1: sealed without it") {
		t.Errorf("%v, %q, %v", found.Hits, found.Notes, err)
	}
}

func overwrite(t *testing.T, mem *disk.Mem, b []byte, off int64) {
	t.Helper()
	f, err := mem.Open("/a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := disk.WriteFull(f, b, off); err != nil {
		t.Fatal(err)
	}
}

// TestVectorRunOfAnotherVersion: no damage either, and nothing to be made again
// over what a newer program made; turns behind it get their vectors.
func TestVectorRunOfAnotherVersion(t *testing.T) {
	e := &meanings{name: "m"}
	db, car := carFile(t, e, 200)
	path := db.Path()
	mustEmbed(t, db)
	wellFormed(t, db)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, path, &Options{ReadOnly: true})
	v := db.view.Load()
	entry := v.root.Vectors[0]
	wellFormed(t, db)
	page := b[entry.Offset : entry.Offset+format.IndexPageSize]
	page[0] = 77
	format.SealDataPage(page, v.super.UUID, entry.Nonce, format.SectionVectors, 0)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db = open(t, path, &Options{Embedder: e})
	f := found(t, db, Query{Text: "red car"})
	if len(f.Hits) == 0 || f.Hits[0].ID != car || !strings.Contains(strings.Join(f.Notes, "\n"), "the vectors of 200 turns can't be searched") {
		t.Errorf("%+v", f)
	}
	for f, err := range db.Verify(ctx) {
		t.Errorf("verify: %v, %v", f, err)
	}
	if r := mustEmbed(t, db); r.Made != 0 || r.Damaged != 0 || r.Foreign != 200 || r.Committed != 201 {
		t.Errorf("embed: %+v", r)
	}
	more := appendTurns(t, db, Turn{Role: "user", Content: []byte("an automobile again")})
	if r := mustEmbed(t, db); r.Made != 1 || r.Damaged != 0 || r.Foreign != 200 || r.Committed != more[0]+1 {
		t.Errorf("embed beside it: %+v", r)
	}
	if got := db.view.Load().root.Vectors; len(got) != 2 || got[0] != entry {
		t.Errorf("the newer program's run was touched: %+v", got)
	}
	if f := found(t, db, Query{Text: "car", K: 1}); f.Compared != 1 || f.Hits[0].ID == 0 {
		t.Errorf("%+v", f)
	}
	if all, err := db.VectorRuns(); err != nil || len(all) != 1 || all[0].Model != "m" || all[0].Newer != 1 || all[0].Runs != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	e.behave(func(_ context.Context, texts []string) ([][]float32, error) {
		all := e.answer(texts)
		for i := range all {
			all[i] = all[i][:32]
		}
		return all, nil
	})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one more")})
	if r, err := db.Embed(ctx, EmbedOptions{}); err == nil || r.Made != 0 {
		t.Errorf("another dimension than the newer program's: %+v, %v", r, err)
	}
	wellFormed(t, db)
}
