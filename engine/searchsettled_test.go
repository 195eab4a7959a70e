package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// replacing is a reader beside a writer with one segment, and a function that has
// the writer replace it: its turns go to another segment, and what it was is
// overwritten as soon as it has rested.
func replacing(t *testing.T, rest time.Duration) (mem *disk.Mem, r *DB, replace func()) {
	t.Helper()
	mem = disk.NewMem(1)
	w := open(t, "/a", &Options{FS: mem, Inline: true, ReuseDelay: rest})
	n := 0
	add := func(some int) {
		for range some {
			n++
			appendTurns(t, w, Turn{Thread: "work", Role: "user", Content: fmt.Appendf(nil, "the lighthouse keeper %d writes about storm %x", n, n*7919)})
		}
		if err := w.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	add(8)
	r = open(t, "/a", &Options{FS: mem, ReadOnly: true, ReuseDelay: rest})
	return mem, r, func() {
		for range 4 {
			add(3)
		}
	}
}

// whatIsFound holds the keepers that a reader finds and tells apart.
func whatIsFound(t *testing.T, r *DB) []TurnID {
	t.Helper()
	hits, err := r.Search(ctx, Query{Text: "lighthouse keeper 5", K: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var ids []TurnID
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	for i, id := range ids {
		if int(id) != i+1 {
			t.Fatalf("%d turns are found, not with #%d", len(ids), i+1)
		}
	}
	return ids
}

// A segment is replaced, and its bytes are another owner's, at any moment of a
// search by another process: everything is found all the same.
func TestSearchWhileSegmentsAreReplaced(t *testing.T) {
	for n := 1; ; n++ {
		mem, r, replace := replacing(t, -1)
		if got := len(whatIsFound(t, r)); got != 8 {
			t.Fatalf("%d turns of 8", got)
		}
		done := beforeRead(mem, n, func() { replace() })
		got := whatIsFound(t, r)
		handles, err := r.Handles(ctx, []TurnID{1, 2, 3})
		mem.SetHook(nil)
		if err != nil || len(handles) != 3 || len(got) < 8 {
			t.Fatalf("replaced before read %d: %d turns are found; %v, %v", n, len(got), handles, err)
		}
		if !*done {
			t.Logf("%d reads", n-1)
			if n < 20 {
				t.Error("the search hardly read anything")
			}
			return
		}
	}
}

// What is found while a segment is replaced is not believed. The second time every
// page is verified, so that it ends beside a writer that replaces one each time.
func TestSettledIsAskedAgain(t *testing.T) {
	for _, c := range []struct{ moves, runs int }{{0, 1}, {1, 2}, {1 << 30, 2}} {
		_, r, replace := replacing(t, -1)
		moves, runs := c.moves, 0
		err := r.doSettled(func(v *view) error {
			runs++
			if v != r.view.Load() || v.retired() != nil {
				t.Error("an old view")
			}
			if got, want := r.index.doubt(), runs > 1; got != want {
				t.Errorf("time %d: in doubt %t", runs, got)
			}
			if moves > 0 {
				moves--
				replace()
			}
			return nil
		})
		if err != nil || runs != c.runs || r.index.doubt() {
			t.Errorf("%d moves: asked %d times, want %d: %v", c.moves, runs, c.runs, err)
		}
	}
}

// Segments are replaced in a search, and once more in its second attempt, over
// bytes that did not rest: so it is beside a writer that closes, and one that comes
// after it.
func TestSearchWhereNothingRests(t *testing.T) {
	for n := 1; ; n += 3 {
		mem, r, replace := replacing(t, -1)
		replace()
		whatIsFound(t, r) // pages are marked
		var hits []Hit
		runs, reads := 0, 0
		err := r.doSettled(func(v *view) (err error) {
			if runs++; runs == 1 {
				replace()
				return nil
			}
			mem.SetHook(func(op disk.Op) error {
				if op.Kind == disk.OpRead && op.Off >= format.FirstExtent {
					if reads++; reads == n {
						replace()
					}
				}
				return nil
			})
			defer mem.SetHook(nil)
			q := Query{Text: "lighthouse keeper 5", K: 1000}
			var words, vectors harm
			hits, _, err = r.search(ctx, v, &q, &words, &vectors)
			return errors.Join(err, words.err(), vectors.err())
		})
		if err != nil || len(hits) < 20 || hits[0].ID != 5 {
			t.Fatalf("replaced before read %d: %d turns are found: %v", n, len(hits), err)
		}
		if reads < n {
			t.Logf("%d reads", reads)
			if reads < 20 {
				t.Error("the search hardly read anything")
			}
			return
		}
	}
}
