package engine

import (
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// TestAsideMovesWithTidy: Close moves the aside forward with all else, and it
// is as good there.
func TestAsideMovesWithTidy(t *testing.T) {
	moved := 0
	for seed := uint64(1); seed <= uint64(trial.Size(6, 2)); seed++ {
		mem := disk.NewMem(seed)
		rng := rand.New(rand.NewPCG(seed, 5))
		p := &player{db: open(t, "/a", memOptions(mem))}
		for range 150 {
			if err := p.append(rng); err != nil {
				t.Fatal(err)
			}
		}
		w, err := p.db.Window("main", WindowOptions{BudgetTokens: 8000})
		if err != nil {
			t.Fatal(err)
		}
		use(t, w, rng, 150, 200)
		before := w.Resident()
		if err := p.db.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		at := p.db.view.Load().root.AsideOffset
		if err := p.db.Close(); err != nil {
			t.Fatal(err)
		}
		v := p.db.view.Load()
		if v.root.AsideOffset != at {
			moved++
		}
		if size := int64(len(readAll(t, mem, "/a"))); size != v.reach() {
			t.Errorf("seed %d: the file has %d bytes, its last extent ends at %d", seed, size, v.reach())
		}
		p.db = open(t, "/a", memOptions(mem))
		if w, err = p.db.Window("main", WindowOptions{BudgetTokens: 8000}); err != nil || !slices.Equal(w.Resident(), before) {
			t.Errorf("seed %d: %v", seed, err)
		}
		wellFormed(t, p.db)
	}
	if moved == 0 {
		t.Error("no aside was moved: the test tests nothing")
	}
}

// TestAsideOnFullDisk: what finds no space is not written, and nothing else
// fails for it.
func TestAsideOnFullDisk(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", memOptions(mem))
	appendTurns(t, db, Turn{Tokens: 40, Content: []byte("a")})
	w, err := db.Window("main", WindowOptions{BudgetTokens: 120})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Get(1); err != nil {
		t.Fatal(err)
	}
	full := true
	mem.SetHook(func(op disk.Op) error {
		if full && op.Kind == disk.OpWrite && op.Off >= 12288 {
			full = false // the aside is the first that is written
			return syscall.ENOSPC
		}
		return nil
	})
	if err := db.Checkpoint(ctx); err != nil || full {
		t.Errorf("checkpoint: %v, was full: %v", err, !full)
	}
	mem.SetHook(nil)
	if _, err := db.Append(ctx, Turn{Tokens: 40, Content: []byte("b")}); errors.Is(err, ErrBroken) || err != nil {
		t.Error(err)
	}
	wellFormed(t, db)
	db = open(t, "/a", memOptions(mem))
	if w, err = db.Window("main", WindowOptions{BudgetTokens: 120}); err != nil || len(w.Resident()) != 1 {
		t.Errorf("resident after all: %v", err)
	}
	wellFormed(t, db)
}
