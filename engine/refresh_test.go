package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// A writer that closes cuts the log off. A reader that is just reading it reads
// on in the state without one, wherever in its reading that happens.
func TestCloseWhileTheLogIsRead(t *testing.T) {
	for n := 1; ; n++ {
		mem := disk.NewMem(1)
		w := open(t, "/a", &Options{FS: mem, Inline: true})
		appendTurns(t, w, Turn{Role: "user", Content: []byte("first")})
		r := open(t, "/a", &Options{FS: mem, ReadOnly: true})
		ids := appendTurns(t, w, Turn{Role: "user", Content: []byte("second")})
		done := beforeRead(mem, n, func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		got, err := r.Get(ids[0])
		mem.SetHook(nil)
		if err != nil || string(got.Content) != "second" {
			t.Fatalf("closed before read %d: %q, %v", n, got.Content, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if !*done {
			t.Logf("%d reads", n-1)
			if n < 5 {
				t.Error(fmt.Errorf("the reader did not read the log"))
			}
			return
		}
	}
}

// beforeRead has f run once, just before the n-th read behind the superblocks; done
// says that it ran.
func beforeRead(mem *disk.Mem, n int, f func()) (done *bool) {
	reads := 0
	done = new(bool)
	mem.SetHook(func(op disk.Op) error {
		if *done || op.Kind != disk.OpRead || op.Off < format.FirstExtent {
			return nil
		}
		if reads++; reads == n {
			*done = true
			f()
		}
		return nil
	})
	return done
}

// A reader beside a writer calls damage damage after a bounded time, though the
// writer might still be at work: it neither hangs nor gives up at once.
func TestReaderGivesUpOnDamageThatStays(t *testing.T) {
	for what, at := range map[string]func(db *DB) (off, n int64){
		"superblocks": func(*DB) (off, n int64) { return 0, 2 * format.SuperblockSize },
		"root":        func(db *DB) (off, n int64) { return db.super.RootOffset, 64 },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			mem := disk.NewMem(1)
			w := open(t, "/a", &Options{FS: mem, Inline: true})
			appendTurns(t, w, Turn{Role: "user", Content: []byte("sealed")})
			if err := w.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
			r := open(t, "/a", &Options{FS: mem, ReadOnly: true})
			off, n := at(w)
			spoil(t, mem, off, n)
			start := time.Now()
			if _, err := Open("/a", &Options{FS: mem, ReadOnly: true}); !isDamage(err) && !errors.Is(err, ErrNotCtxdb) {
				t.Errorf("open: %v", err)
			}
			if _, err := r.Get(2); what == "superblocks" && !isDamage(err) && !errors.Is(err, ErrNotCtxdb) {
				t.Errorf("an absence that can't be confirmed: %v", err)
			}
			if got, err := r.Get(1); err != nil || string(got.Content) != "sealed" {
				t.Errorf("what was open is read on: %q, %v", got.Content, err)
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("it took %v", d)
			}
		})
	}
}
