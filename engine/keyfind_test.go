package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// GetKey is Lookup and Get, for turns in segments and in the log, by the writer
// and by a reader.
func TestGetKeyIsLookupAndGet(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true, ReuseDelay: -1})
	rng := rand.New(rand.NewPCG(5, 5))
	var want []Turn
	for i := range 60 {
		turn := makeTurn(rng, i+1)
		appendTurns(t, db, turn)
		want = append(want, turn)
		if i%13 == 12 {
			if err := db.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, db := range []*DB{db, open(t, "/a", &Options{FS: mem, ReadOnly: true})} {
		for i := range want {
			if want[i].Key == "" {
				continue
			}
			id, err := db.Lookup(want[i].Key)
			if err != nil || int(id) != i+1 {
				t.Fatalf("key %d: %d, %v", i, id, err)
			}
			got, err := db.GetKey(want[i].Key)
			if err == nil {
				err = sameTurn(want[i], got)
			}
			if err != nil || got.ID != id {
				t.Fatalf("key %d: #%d, %v", i, got.ID, err)
			}
		}
		for _, key := range []string{"", "key", "key 60"} {
			if got, err := db.GetKey(key); !errors.Is(err, ErrNotFound) || got.ID != 0 {
				t.Errorf("%q: %d, %v", key, got.ID, err)
			}
		}
	}
	wellFormed(t, db)
	if _, err := db.GetKey("x"); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The key that is stored in a turn decides, whatever the hash says.
func TestStoredKeyDecides(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a"), nil)
	appendTurns(t, db, Turn{Key: "one", Role: "user"}, Turn{Key: "two", Role: "user"}, Turn{Role: "user"})
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	v := db.view.Load()
	for id, key := range map[uint64]string{1: "one", 2: "two", 3: ""} {
		for _, other := range []string{"one", "two", "three", ""} {
			if has, err := v.hasKey(id, other); err != nil || has != (key == other) {
				t.Errorf("turn %d, key %q: %t, %v", id, other, has, err)
			}
		}
	}
	if _, err := v.hasKey(4, "one"); !errors.Is(err, ErrNotFound) {
		t.Errorf("turn 4: %v", err)
	}
}

// A look-up allocates nothing, and an absent key nothing but its error.
func TestLookupAllocatesNothing(t *testing.T) {
	if trial.Race {
		t.Skip("the race detector allocates")
	}
	path := filepath.Join(t.TempDir(), "a")
	db := open(t, path, nil)
	var batch []Turn
	for i := range 300 {
		batch = append(batch, Turn{Key: fmt.Sprint("key ", i), Role: "user", Content: fmt.Appendf(nil, "content %d of some length", i)})
	}
	appendTurns(t, db, batch...)
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	for what, db := range map[string]*DB{"writer": db, "reader": open(t, path, &Options{ReadOnly: true})} {
		i := 0
		n := testing.AllocsPerRun(200, func() {
			i++
			if id, err := db.Lookup(batch[i].Key); err != nil || int(id) != i+1 {
				t.Fatal(id, err)
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
