package engine

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestEmbedDamage: damaged vectors cost a search nothing but the vectors, are
// reported, concern no turn, and are made again.
func TestEmbedDamage(t *testing.T) {
	e := &meanings{name: "m"}
	db, car := carFile(t, e, 200)
	path := db.Path()
	mustEmbed(t, db)
	wellFormed(t, db)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, path, &Options{ReadOnly: true})
	entry := db.view.Load().root.Vectors[0]
	wellFormed(t, db)
	for _, at := range []int64{8, entry.Length - 5000, entry.Length - 4} {
		bad := append([]byte{}, whole...)
		bad[entry.Offset+at] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		db := open(t, path, &Options{Embedder: e})
		f := found(t, db, Query{Text: "red car"})
		if len(f.Hits) == 0 || f.Hits[0].ID != car || f.Compared != 0 || !strings.Contains(strings.Join(f.Notes, ""), "words decided") {
			t.Errorf("at %d: %+v", at, f)
		}
		v, _ := e.Embed(ctx, []string{"car"})
		if _, err := db.Search(ctx, Query{Vector: v[0], VectorModel: "m"}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("by the vector alone: %v", err)
		}
		findings := 0
		for f, err := range db.Verify(ctx) {
			if findings++; err != nil || !errors.Is(f.Err, ErrCorrupt) || f.Count != 0 || f.Offset < entry.Offset || f.Offset >= entry.Offset+entry.Length {
				t.Errorf("%+v, %v", f, err)
			}
		}
		if findings == 0 {
			t.Errorf("verify finds nothing wrong at %d", at)
		}
		if r := mustEmbed(t, db); r.Made != 200 || r.Damaged != 1 {
			t.Errorf("%+v", r)
		}
		if f := found(t, db, Query{Text: "automobile", K: 1}); f.Compared != 200 || f.Hits[0].ID != car {
			t.Errorf("made again: %+v", f)
		}
		wellFormed(t, db)
	}
}

// TestEmbedTurns: with EmbedTurns what is sealed gets its vectors by itself, never
// within an append; Close ends it and keeps what it has.
func TestEmbedTurns(t *testing.T) {
	e := &meanings{name: "m"}
	asked, answer := make(chan int, 1), make(chan struct{})
	e.hook = func(ctx context.Context, texts []string) ([][]float32, error) {
		asked <- len(texts)
		select {
		case <-answer:
			return e.answer(texts), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	path := t.TempDir() + "/a.ctxdb"
	db := open(t, path, &Options{Embedder: e, EmbedTurns: true})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")}, Turn{Role: "user", Content: []byte("two")})
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if n := <-asked; n != 2 {
		t.Errorf("%d texts", n)
	}
	appendTurns(t, db, Turn{Role: "user", Content: []byte("three")}) // while the model thinks
	answer <- struct{}{}
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if n := <-asked; n != 1 {
		t.Errorf("%d texts", n)
	}
	if r, err := db.VectorRuns(); err != nil || len(r) != 1 || r[0].Vectors != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	wellFormed(t, db) // the third has no answer
	if _, err := db.Embed(ctx, EmbedOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	e.hook = nil
	db = open(t, path, &Options{Embedder: e})
	if r := mustEmbed(t, db); r.Made != 1 {
		t.Errorf("%+v", r)
	}
	wellFormed(t, db)
}

// TestEmbedCancelled: a cancelled pass says so, and keeps what was answered.
func TestEmbedCancelled(t *testing.T) {
	e := &meanings{name: "m"}
	db, _ := carFile(t, e, 300)
	cancelled, cancel := context.WithCancel(ctx)
	e.hook = func(ctx context.Context, texts []string) ([][]float32, error) {
		if len(e.seen) > 200 {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return e.answer(texts), nil
	}
	r, err := db.Embed(cancelled, EmbedOptions{})
	if !errors.Is(err, context.Canceled) || r.Committed != 193 || r.Made != 192 {
		t.Errorf("%+v, %v", r, err)
	}
	e.hook = nil
	if r := mustEmbed(t, db); r.Made != 108 {
		t.Errorf("%+v", r)
	}
	wellFormed(t, db)
}
