package engine

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// A DB that is closed while Verify reads it has no damage: ErrClosed is the end.
func TestVerifyEndsWhenTheDBIsClosed(t *testing.T) {
	for n := 1; n < 40; n += trial.Size(1, 13) {
		mem := disk.NewMem(1)
		db := open(t, "/a", &Options{FS: mem, Inline: true})
		for i := range 3 {
			appendTurns(t, db, bulky(i), Turn{Key: fmt.Sprint(i), Role: "user", Content: []byte("short")})
			if err := db.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
		reads := 0
		mem.SetHook(func(op disk.Op) error {
			if op.Kind == disk.OpRead {
				if reads++; reads == n {
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			return nil
		})
		var last error
		for f, err := range db.Verify(ctx) {
			if last = err; err == nil {
				t.Fatalf("closed before read %d: %+v", n, f)
			}
		}
		mem.SetHook(nil)
		if reads >= n && !errors.Is(last, ErrClosed) {
			t.Errorf("closed before read %d: ended with %v", n, last)
		}
	}
}

// What can't be read can't be moved to where the file would be shorter. That
// is no reason for Close to fail: nothing is lost.
func TestCloseThoughTheFileCantBeMadeShorter(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true})
	for i := range 200 {
		appendTurns(t, db, Turn{Role: "user", Content: fmt.Appendf(nil, "turn %d of many", i)})
	}
	failed := 0
	mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpRead {
			failed++
			return syscall.EIO
		}
		return nil
	})
	if err := db.Close(); err != nil || failed == 0 {
		t.Errorf("after %d failed reads: %v", failed, err)
	}
	mem.SetHook(nil)
	db = open(t, "/a", &Options{FS: mem, Inline: true})
	if s := db.Stats(); s.Turns != 200 || !db.Recovery().Clean {
		t.Errorf("%d turns, clean %v", s.Turns, db.Recovery().Clean)
	}
	wellFormed(t, db)
}
