package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestTruncatedUnderUs: somebody cuts the file, or puts another in its place,
// while it is read. Each read is exact or an error, and the process lives.
func TestTruncatedUnderUs(t *testing.T) {
	for _, noMap := range []bool{false, true} {
		for _, writer := range []bool{false, true} {
			t.Run(fmt.Sprintf("map=%v/writer=%v", !noMap, writer), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.ctxdb")
				want := cutFile(t, path)
				db := open(t, path, &Options{NoMap: noMap, ReadOnly: !writer})
				for i := range want {
					if _, err := db.Get(TurnID(i + 1)); err != nil {
						t.Fatal(err)
					}
				}
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(path, info.Size()/3&^4095); err != nil {
					t.Fatal(err)
				}
				failed := 0
				for i := range want {
					got, err := db.Get(TurnID(i + 1))
					switch {
					case err == nil:
						if err := sameTurn(want[i], got); err != nil {
							t.Errorf("turn %d: %v", i+1, err)
						}
					case errors.Is(err, ErrTruncated) || errors.Is(err, ErrCorrupt):
						failed++
					default:
						t.Errorf("turn %d: %v", i+1, err)
					}
				}
				if failed == 0 {
					t.Error("two thirds of the file are gone, and nothing was missed")
				}
				db.Close()
			})
		}
	}
}

// cutFile makes a closed file of some hundred turns.
func cutFile(t *testing.T, path string) []Turn {
	t.Helper()
	db := open(t, path, nil)
	rng := rand.New(rand.NewPCG(3, 3))
	var want []Turn
	for i := range 600 {
		want = append(want, makeTurn(rng, i+1))
	}
	appendTurns(t, db, want...)
	wellFormed(t, db)
	return want
}

// TestReplacedUnderUs: a sync folder swaps the file of an open reader. It goes
// on reading the one that it opened.
func TestReplacedUnderUs(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.ctxdb"), filepath.Join(dir, "b.ctxdb")
	want := cutFile(t, path)
	wellFormed(t, open(t, other, nil))
	db := open(t, path, &Options{ReadOnly: true})
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	checkAll(t, db, want)
	wellFormed(t, db)
}

// TestPagesOfAnotherFile: the segment of another file in the place of ours is
// intact bytes in a wrong place.
func TestPagesOfAnotherFile(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.ctxdb"), filepath.Join(dir, "b.ctxdb")
	cutFile(t, a)
	cutFile(t, b)
	ours, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, a, &Options{ReadOnly: true})
	first := db.Stats().Segments[0]
	db.Close()
	copy(ours[first.Offset:first.Offset+first.Length], theirs[first.Offset:])
	if err := os.WriteFile(a, ours, 0o600); err != nil {
		t.Fatal(err)
	}
	db = open(t, a, &Options{ReadOnly: true})
	if _, err := db.Get(1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a turn of another file: %v", err)
	}
	findings := 0
	for range db.Verify(ctx) {
		findings++
	}
	if findings == 0 {
		t.Error("verify found nothing")
	}
	db.Close()
}
