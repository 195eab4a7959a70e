package engine

import "testing"

// TestEmbedSalvage: salvage copies the turns of a file that has vectors, leaves
// the vectors out, and they can be made again.
func TestEmbedSalvage(t *testing.T) {
	e := &meanings{name: "m"}
	db, car := carFile(t, e, 300)
	path := db.Path()
	mustEmbed(t, db)
	wellFormed(t, db)
	to := t.TempDir() + "/b.ctxdb"
	r, err := Salvage(ctx, to, path)
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, to, &Options{Embedder: e})
	if n := db.Stats().Turns; n != 300 {
		t.Errorf("%d turns of %+v", n, r)
	}
	if all, err := db.VectorRuns(); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if r := mustEmbed(t, db); r.Made != 300 {
		t.Errorf("%+v", r)
	}
	if f := found(t, db, Query{Text: "automobile", K: 1}); len(f.Hits) != 1 || f.Hits[0].ID != car {
		t.Errorf("%+v", f)
	}
	wellFormed(t, db)
}
