package engine

import (
	"errors"
	"testing"

	"ctxdb/cache"
	"ctxdb/format/disk"
)

// TestWindowInfoIsWhatOpensIt: the options that it names give the window as it was left.
func TestWindowInfoIsWhatOpensIt(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem})
	var ids []TurnID
	for i := range 40 {
		ids = append(ids, appendTurns(t, db, Turn{Role: "user", Tokens: 10 + i, Content: []byte("turn")})...)
	}
	opts := WindowOptions{BudgetTokens: 400, Policy: cache.GDSF, PageTokens: -1}
	w, err := db.Window("w", opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if _, _, err := w.View(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Pin(ids[39]); err != nil {
		t.Fatal(err)
	}
	want := w.Stats()
	resident := w.Resident()
	wellFormed(t, db)

	db = open(t, "/a", &Options{FS: mem, ReadOnly: true})
	info, err := db.WindowInfo("w")
	if err != nil || info.Policy != opts.Policy || info.PageTokens >= 0 || info.Pages != want.Pages || info.Tokens != want.Tokens ||
		info.Bytes != want.Bytes || info.Pinned != 1 || info.References != 40 {
		t.Fatalf("%+v, %v; it was left with %+v", info, err, want)
	}
	if _, err := db.WindowInfo("v"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	w, err = db.Window("w", WindowOptions{BudgetTokens: 1 << 30, Policy: info.Policy, PageTokens: info.PageTokens})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Resident(); len(got) != len(resident) || len(got) == 0 {
		t.Errorf("%d turns are resident, %d were", len(got), len(resident))
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, err := db.WindowInfo("w"); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
