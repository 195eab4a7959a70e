package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// eachRead calls search with before called at its n-th read, for each n, and then
// whole for what came of it.
func eachRead(t *testing.T, q Query, want int, before func(cancel context.CancelFunc) error, is error) {
	t.Helper()
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true})
	for i := range 6 {
		appendTurns(t, db, Turn{Thread: "a", Role: "user", Content: fmt.Appendf(nil, "a basket of ripe quinces %d", i)},
			Turn{Thread: "a", Role: RoleMeta, Content: fmt.Appendf(nil, `{"note":"ripe quinces %d"}`, i)})
		if err := db.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; ; n++ {
		cancelable, cancel := context.WithCancel(ctx)
		reads := 0
		mem.SetHook(func(op disk.Op) error {
			if op.Kind == disk.OpRead && op.Off >= format.FirstExtent {
				if reads++; reads == n {
					return before(cancel)
				}
			}
			return nil
		})
		hits, err := db.Search(cancelable, q)
		mem.SetHook(nil)
		cancel()
		if err == nil && len(hits) != want || err != nil && !errors.Is(err, is) {
			t.Fatalf("read %d: %d hits of %d, and %v", n, len(hits), want, err)
		}
		if reads < n {
			if n < 5 {
				t.Errorf("%d reads: this test proves little", reads)
			}
			return
		}
	}
}

// A search whose context ends has all its hits, or is an error.
func TestSearchEndsWhole(t *testing.T) {
	eachRead(t, Query{Text: `"ripe quinces"`}, 6, func(cancel context.CancelFunc) error { cancel(); return nil }, context.Canceled)
}

// A search of which a read fails has all its hits, or is an error: also where the
// filter itself reads turns.
func TestSearchReadsWhole(t *testing.T) {
	failed := errors.New("the disk failed")
	eachRead(t, Query{Text: "ripe quinces", Thread: "a", Roles: []string{RoleMeta}}, 6, func(context.CancelFunc) error { return failed }, failed)
}
