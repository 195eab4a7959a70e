package engine

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ctxdb/format/disk"
)

// checkSources holds Sources against Get and Source, turn by turn.
func checkSources(t *testing.T, db *DB, from, to TurnID) (n int) {
	t.Helper()
	for got, err := range db.Sources(from, to) {
		want, werr := db.Get(got.ID)
		source, serr := db.Source(got.ID)
		if got.ID != max(from, 1)+TurnID(n) || (err == nil) != (werr == nil && serr == nil) {
			t.Fatalf("turn %d comes with %v, where Get says %v and Source %v", got.ID, err, werr, serr)
		}
		if err == nil && (sameTurn(want, got) != nil || !bytes.Equal(source, got.Source) || (source == nil) != (got.Source == nil)) {
			t.Fatalf("turn %d: %v; %d bytes of source for %d", got.ID, sameTurn(want, got), len(got.Source), len(source))
		}
		n++
	}
	return n
}

// TestSources: out of segments, out of the log, in parts of the file.
func TestSources(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, LogBytes: 64 << 10, Inline: true})
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 600 {
		turn := makeTurn(rng, i+1)
		if i%7 == 0 {
			turn.Source = []byte{} // one of no bytes is not none
		}
		appendTurns(t, db, turn)
	}
	if s := db.Stats(); s.LoggedTurns == 0 || len(s.Segments) < 2 {
		t.Fatalf("%d turns in the log, %d segments", s.LoggedTurns, len(s.Segments))
	}
	for _, r := range [][2]TurnID{{0, 0}, {1, 601}, {1, 600}, {250, 600}, {599, 0}} {
		want := 601 - max(r[0], 1)
		if r[1] != 0 {
			want = r[1] - max(r[0], 1)
		}
		if n := checkSources(t, db, r[0], r[1]); n != int(want) {
			t.Errorf("from %d to %d: %d turns, want %d", r[0], r[1], n, want)
		}
	}
	for range db.Sources(0, 0) {
		break // wellFormed closes it: no segment is in use any more
	}
	wellFormed(t, db)
}

// TestSourcesBehindDamage: each turn comes once, those that are whole without an
// error, and a lost source takes no turn along.
func TestSourcesBehindDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	db := open(t, path, nil)
	rng := rand.New(rand.NewPCG(5, 6))
	var batch []Turn
	for i := range 300 {
		batch = append(batch, makeTurn(rng, i+1))
	}
	ids := appendTurns(t, db, batch...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path, &Options{ReadOnly: true})
	where, err := db.Where(ids[99]) // has a source: 100 is even
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(where, func(l Location) bool { return l.Region == "source block" })
	if i < 0 {
		t.Fatalf("no source block: %+v", where)
	}
	for region, at := range map[string]int64{"content": where[0].Offset + where[0].Stored/2, "source": where[i].Offset + where[i].Stored/2} {
		t.Run(region, func(t *testing.T) {
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			whole[at] ^= 1
			hurt := filepath.Join(t.TempDir(), "b")
			if err := os.WriteFile(hurt, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			db := open(t, hurt, &Options{ReadOnly: true})
			defer db.Close()
			if n := checkSources(t, db, 0, 0); n != len(batch) {
				t.Errorf("%d turns", n)
			}
			failed, came := 0, 0
			for got, err := range db.Sources(0, 0) {
				if err == nil {
					continue
				}
				if failed++; sameTurn(batch[got.ID-1], got) == nil {
					came++
				}
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("turn %d: %v", got.ID, err)
				}
			}
			if failed == 0 || failed == len(batch) || (region == "source") != (came == failed) {
				t.Errorf("%d turns failed, of which %d came nevertheless", failed, came)
			}
		})
	}
}

// TestBatchErrorNamesTheTurn: whatever is wrong with it.
func TestBatchErrorNamesTheTurn(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1)})
	appendTurns(t, db, Turn{Key: "k", Role: "user", Content: []byte("one")})
	fine := Turn{Role: "user", Content: []byte("fine")}
	for _, c := range []struct {
		turn Turn
		want error
	}{
		{Turn{Key: "k", Role: "user", Content: []byte("two")}, ErrKeyExists},
		{Turn{ReplyKey: "nobody's"}, ErrNotFound},
		{Turn{ReplyTo: 99}, ErrNotFound},
		{Turn{Key: string(make([]byte, 2<<10))}, ErrTooLarge},
		{Turn{ReplyTo: 1, ReplyKey: "k"}, nil},
	} {
		_, err := db.Append(ctx, fine, fine, c.turn, fine)
		var b *BatchError
		if !errors.As(err, &b) || b.Index != 2 || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%v, want turn 3 of the batch and %v", err, c.want)
		}
	}
	if s := db.Stats(); s.Turns != 1 {
		t.Errorf("%d turns", s.Turns)
	}
	wellFormed(t, db)
}
