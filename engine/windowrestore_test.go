package engine

import (
	"bytes"
	"slices"
	"testing"

	"ctxdb/format/disk"
)

// stateOf is what the file would remember of a window.
func stateOf(t *testing.T, w *Window) *windowState {
	t.Helper()
	s, err := decodeState(w.save(1))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func restoreDB(t *testing.T) (*DB, *disk.Mem) {
	t.Helper()
	mem := disk.NewMem(1)
	db := open(t, "/a", memOptions(mem))
	for i := range 40 {
		appendTurns(t, db, Turn{Role: "user", Content: bytes.Repeat([]byte{'a' + byte(i%26), 'q', '\n'}, 4000), Tokens: 3000})
	}
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	return db, mem
}

func fullWindow(t *testing.T, db *DB, name string, budget int) *Window {
	t.Helper()
	w, err := db.Window(name, WindowOptions{BudgetTokens: budget, KeepRecent: -1})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestRestoreHoldsNoMoreThanTheBudget: a state may name far more than fits today.
func TestRestoreHoldsNoMoreThanTheBudget(t *testing.T) {
	db, _ := restoreDB(t)
	large, small := fullWindow(t, db, "large", 200_000), fullWindow(t, db, "small", 10_000)
	for id := range TurnID(40) {
		if _, _, err := large.Get(id + 1); err != nil {
			t.Fatal(err)
		}
	}
	s := stateOf(t, large)
	s.name = "small"
	kept := int64(0)
	turns := small.costResidents(s)
	for id, r := range turns {
		if r == nil {
			t.Fatalf("#%d is not there", id)
		}
		if r.whole != nil {
			kept += int64(r.whole.Tokens)
		}
	}
	if len(turns) != 40 || kept > 10_000 {
		t.Errorf("%d turns, contents of %d tokens are held", len(turns), kept)
	}
	if err := small.restore(s); err != nil {
		t.Fatal(err)
	}
	if err := small.check(); err != nil || len(small.Resident()) == 0 {
		t.Fatalf("%v: %v", small.Resident(), err)
	}
	for _, id := range small.Resident() {
		got, _, err := small.Get(id)
		want, _ := db.Get(id)
		if err != nil || !bytes.Equal(got.Content, want.Content) {
			t.Errorf("#%d: %d bytes of %d, %v", id, len(got.Content), len(want.Content), err)
		}
	}
	wellFormed(t, db)
}

// TestRestoreLetsGoWhatCantBeRead: a turn, or a page of one, that was there when
// costs were counted and can't be read when its content is wanted leaves again,
// with its pin, and nothing else does.
func TestRestoreLetsGoWhatCantBeRead(t *testing.T) {
	db, mem := restoreDB(t)
	before := fullWindow(t, db, "before", 60_000)
	for _, id := range []TurnID{3, 5, 8} {
		if err := before.Pin(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []TurnID{9, 11} {
		if _, _, err := before.Page(id, 1); err != nil {
			t.Fatal(err)
		}
	}
	after := fullWindow(t, db, "after", 60_000)
	for _, id := range []TurnID{3, 5, 8, 9, 11} { // layouts are known, so that nothing is read for them
		after.faults.Lock()
		_, _, err := after.layoutOf(id)
		after.faults.Unlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []TurnID{5, 11} {
		where, err := db.Where(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range where {
			spoil(t, mem, x.Offset, int64(x.Stored))
		}
	}
	if err := after.restore(stateOf(t, before)); err != nil {
		t.Fatal(err)
	}
	if err := after.check(); err != nil {
		t.Error(err)
	}
	if got := after.Resident(); !slices.Contains(got, 3) || !slices.Contains(got, 8) || slices.Contains(got, 5) || slices.Contains(got, 11) {
		t.Errorf("resident: %v", got)
	}
	if after.pins[5] || !after.pins[3] || !after.pins[8] {
		t.Errorf("pinned: %v", after.pins)
	}
	if _, hit, err := after.Page(9, 1); !hit || err != nil {
		t.Errorf("page #9.1: hit %v, %v", hit, err)
	}
	if _, _, err := after.Get(5); !isDamage(err) {
		t.Errorf("#5: %v", err)
	}
}
