package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"ctxdb/format/disk"
)

// failReads makes reads of a file fail that touch the bytes of turns.
func failReads(t *testing.T, mem *disk.Mem, db *DB, ids ...TurnID) {
	t.Helper()
	var bad []Location
	for _, id := range ids {
		places, err := db.Where(id)
		if err != nil {
			t.Fatal(err)
		}
		bad = append(bad, places...)
	}
	mem.SetHook(func(op disk.Op) error {
		for _, p := range bad {
			if op.Kind == disk.OpRead && op.Off < p.Offset+p.Stored && p.Offset < op.Off+int64(op.Len) {
				return syscall.EIO
			}
		}
		return nil
	})
}

// noise is n bytes that hardly compress, the same each time.
func noise(i, n int) []byte {
	rng := rand.NewChaCha8([32]byte{byte(i), byte(i >> 8)})
	b := make([]byte, n)
	_, _ = rng.Read(b) // never fails
	return b
}

// TestEmbedGoesOnBehindUnreadTurns: a turn of which a read fails costs its own
// vector alone, is named, and is tried again in the next pass.
func TestEmbedGoesOnBehindUnreadTurns(t *testing.T) {
	mem := disk.NewMem(1)
	e := &meanings{name: "m"}
	db := open(t, "/a", &Options{FS: mem, Inline: true, ReuseDelay: -1, Embedder: e})
	var turns []Turn
	for i := range 200 {
		turns = append(turns, Turn{Role: "user", Content: fmt.Appendf(nil, "%s %x", itemText(i), noise(i, 1500))})
	}
	appendTurns(t, db, turns...)
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	failReads(t, mem, db, 1, 57, 58, 130, 200)
	r, err := db.Embed(ctx, EmbedOptions{})
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("the cause is not said: %v", err)
	}
	bad := uint64(len(r.Unread))
	for _, id := range []TurnID{1, 57, 58, 130, 200} {
		if !slices.Contains(r.Unread, id) {
			t.Errorf("#%d is not named: %v", id, r.Unread)
		}
	}
	if r.Made != 200-bad || r.Committed != 1 || r.Damaged != 0 || bad > 20 {
		t.Errorf("%+v", r)
	}
	if r, err := db.Embed(ctx, EmbedOptions{}); !errors.Is(err, syscall.EIO) || r.Made != 0 || uint64(len(r.Unread)) != bad {
		t.Errorf("again: %+v, %v", r, err)
	}
	mem.SetHook(nil)
	sent := len(e.seen)
	if r := mustEmbed(t, db); r.Made != bad || len(e.seen)-sent != int(bad) || r.Committed != 201 || len(r.Unread) != 0 {
		t.Errorf("healed: %+v, %d texts sent", r, len(e.seen)-sent)
	}
	if f := found(t, db, Query{Text: itemText(57)}); f.Compared != 200 {
		t.Errorf("%d compared", f.Compared)
	}
	wellFormed(t, db)
}

// TestEmbedGivesUpOnADyingDisk: stretches without end of turns that can't be
// read don't tear the vectors into as many runs.
func TestEmbedGivesUpOnADyingDisk(t *testing.T) {
	mem := disk.NewMem(1)
	e := &meanings{name: "m"}
	db := open(t, "/a", &Options{FS: mem, Inline: true, ReuseDelay: -1, Embedder: e})
	const all = 2*mostHoles + 20
	var turns []Turn
	var bad []TurnID
	for i := range all {
		turns = append(turns, Turn{Role: "user", Content: fmt.Appendf(nil, "%s %x", itemText(i), noise(i, 3000))})
		if i%2 == 0 {
			bad = append(bad, TurnID(i+1))
		}
	}
	appendTurns(t, db, turns...)
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	failReads(t, mem, db, bad...)
	r, err := db.Embed(ctx, EmbedOptions{})
	if !errors.Is(err, syscall.EIO) || len(r.Unread) != mostHoles+1 || r.Made != mostHoles {
		t.Errorf("%d made, %d unread, %v", r.Made, len(r.Unread), err)
	}
	mem.SetHook(nil)
	if r := mustEmbed(t, db); r.Committed != all+1 {
		t.Errorf("%+v", r)
	}
	wellFormed(t, db)
}

// TestEmbedGoesOnBesideAnUnreadRun: a run that can't be read at the moment keeps
// its turns, and the others get their vectors.
func TestEmbedGoesOnBesideAnUnreadRun(t *testing.T) {
	mem := disk.NewMem(1)
	e := &meanings{name: "m"}
	o := Options{FS: mem, Inline: true, ReuseDelay: -1, Embedder: e}
	db := open(t, "/a", &o)
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")}, Turn{Role: "user", Content: []byte("two")})
	mustEmbed(t, db)
	wellFormed(t, db)
	db = open(t, "/a", &o)
	entry := db.view.Load().root.Vectors[0] // Close may have moved it
	appendTurns(t, db, Turn{Role: "user", Content: []byte("three")})
	mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpRead && op.Off < entry.Offset+entry.Length && entry.Offset < op.Off+int64(op.Len) {
			return syscall.EIO
		}
		return nil
	})
	if r, err := db.Embed(ctx, EmbedOptions{}); !errors.Is(err, syscall.EIO) || r.Made != 1 || r.Damaged != 0 || r.Committed != 4 {
		t.Errorf("%+v, %v", r, err)
	}
	mem.SetHook(nil)
	if r := mustEmbed(t, db); r.Made != 0 {
		t.Errorf("healed: %+v", r)
	}
	if f := found(t, db, Query{Text: "two"}); f.Compared != 3 {
		t.Errorf("%d compared", f.Compared)
	}
	wellFormed(t, db)
}

// countedContext is done once it was asked so many times.
type countedContext struct {
	context.Context
	left int
}

func (c *countedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestSearchByVectorCanBeCancelled while it looks for candidates that a filter
// admits, and none is.
func TestSearchByVectorCanBeCancelled(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1)})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")})
	near := slices.Repeat([]Hit{{ID: 1}}, 3*exactInterval)
	q := &Query{Roles: []string{"nobody"}, Vector: []float32{1}}
	for asked, want := range []error{context.Canceled, context.Canceled, context.Canceled, nil} {
		ctx := &countedContext{context.Background(), asked}
		if _, err := db.exact(ctx, db.view.Load(), q, near, 10, &harm{}); !errors.Is(err, want) {
			t.Errorf("cancelled after %d looks: %v", asked, err)
		}
	}
	wellFormed(t, db)
}
