package engine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// TestNothingIsWrittenAfterAFailedSync: also not by a sealing that runs beside
// the commit whose sync failed, or beside which the sealing's own failed.
func TestNothingIsWrittenAfterAFailedSync(t *testing.T) {
	beside := 0
	for n := 1; n < 160; n += trial.Size(1, 7) {
		mem := disk.NewMem(uint64(n))
		db := open(t, "/a", &Options{FS: mem, LogBytes: 16 << 10, ReuseDelay: -1})
		var syncs atomic.Int64
		var late atomic.Pointer[disk.Op]
		mem.SetHook(func(op disk.Op) error {
			for range 3 {
				runtime.Gosched() // the others come in between
			}
			switch op.Kind {
			case disk.OpWrite, disk.OpSync, disk.OpTruncate:
				if db.broken.Load() != nil {
					late.CompareAndSwap(nil, &op)
				}
			}
			if op.Kind == disk.OpSync && syncs.Add(1) == int64(n) {
				return &disk.FailedSync{Err: errors.New("lost"), Reached: disk.Variant{Mode: disk.Mixed, Seed: uint64(n)}}
			}
			return nil
		})
		acknowledged := appendUntilBroken(t, db)
		if j := db.job; j != nil {
			select {
			case <-j.done:
			default:
				beside++
			}
		}
		if err := db.Close(); !errors.Is(err, ErrBroken) {
			t.Errorf("sync %d failed, and Close says %v", n, err)
		}
		mem.SetHook(nil)
		if op := late.Load(); op != nil {
			t.Fatalf("sync %d failed, then came %v", n, *op)
		}
		mem.Restart()
		after := open(t, "/a", &Options{FS: mem})
		for id, want := range acknowledged {
			if got, err := after.Get(id); err != nil || string(got.Content) != want {
				t.Fatalf("sync %d failed, turn %d: %q, %v", n, id, got.Content, err)
			}
		}
		wellFormed(t, after)
	}
	if beside == 0 && !trial.Brief() {
		t.Error("no sync failed beside a sealing")
	}
}

// appendUntilBroken appends from four goroutines and returns what was
// acknowledged.
func appendUntilBroken(t *testing.T, db *DB) map[TurnID]string {
	acknowledged := map[TurnID]string{}
	var mu sync.Mutex
	var writers sync.WaitGroup
	for g := range 4 {
		writers.Go(func() {
			for i := range 4000 {
				content := fmt.Sprintf("%d.%0400d", g, i)
				ids, err := db.Append(ctx, Turn{Role: "user", Content: []byte(content)})
				if err != nil {
					if !errors.Is(err, ErrBroken) {
						t.Errorf("append: %v", err)
					}
					return
				}
				mu.Lock()
				acknowledged[ids[0]] = content
				mu.Unlock()
			}
			t.Error("the failing sync was never reached")
		})
	}
	writers.Wait()
	return acknowledged
}
