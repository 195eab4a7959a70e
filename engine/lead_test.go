package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"ctxdb/format/disk"
)

// pushingContext is a context that runs something when it is asked whether it ended.
type pushingContext struct {
	context.Context
	once func()
}

func (a *pushingContext) Err() error {
	if f := a.once; f != nil {
		a.once = nil
		f()
	}
	return a.Context.Err()
}

// A leader whose own batch is done returns, however many come behind it.
func TestLeaderReturnsWhenItsBatchIsDone(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1), Inline: true, LogBytes: 16 << 10, ReuseDelay: -1})
	made := 0
	var push func() *batch
	push = func() *batch {
		made++
		b := &batch{turns: []Turn{{Role: "user", Content: bytes.Repeat([]byte{'x'}, 20000)}}, done: make(chan struct{})}
		a := &pushingContext{Context: ctx}
		if made < 30 {
			a.once = func() { push() }
		}
		b.ctx = a
		if err := db.prepare(b); err != nil {
			t.Fatal(err)
		}
		db.queue.push(b)
		return b
	}
	own := push()
	<-db.leader
	db.lead(own)
	db.leader <- struct{}{}
	if !own.finished() || own.err != nil {
		t.Fatalf("led, and the own batch is not done: %v", own.err)
	}
	if made > 2 {
		t.Errorf("led %d batches, its own was the first", made)
	}
}

// A checkpoint that was made is no failure, though its context ended meanwhile.
func TestCheckpointIsDoneThoughItsContextEnds(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")})
	ending, cancel := context.WithCancel(ctx)
	mem.SetHook(func(disk.Op) error { cancel(); return nil })
	err := db.Checkpoint(ending)
	mem.SetHook(nil)
	if err != nil || db.Stats().LoggedTurns != 0 {
		t.Errorf("%d turns logged: %v", db.Stats().LoggedTurns, err)
	}
	if err := db.Checkpoint(ending); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that had ended: %v", err)
	}
	wellFormed(t, db)
}

// A life is killed while it publishes a large batch. The next one finds it in
// the page cache, appends it again under a lazy policy, and makes that durable
// by Sync or by Close.
func TestRepeatedBatchIsDurableAfterSync(t *testing.T) {
	large := Turn{Key: "k", Role: "user", Content: bytes.Repeat([]byte("large "), 5000)}
	o := Options{Inline: true, LogBytes: 16 << 10, ReuseDelay: -1}
	found := 0
	for n := 1; n < 20; n++ {
		for _, closing := range []bool{false, true} {
			mem := disk.NewMem(uint64(n))
			o.FS, o.Sync = mem, SyncAlways
			db := open(t, "/a", &o)
			syncs := 0
			mem.SetHook(func(op disk.Op) error {
				if op.Kind == disk.OpSync {
					if syncs++; syncs >= n {
						return errors.New("killed")
					}
				}
				return nil
			})
			db.Append(ctx, large)
			mem.SetHook(nil)
			mem.Restart()
			o.Sync = SyncNever
			db = open(t, "/a", &o)
			if db.Stats().Turns == 1 {
				found++
			}
			appendTurns(t, db, large)
			how, end := "sync", func() error { return db.Sync(ctx) }
			if closing {
				how, end = "close", db.Close
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			o.FS = mem.Crash(disk.Variant{Mode: disk.KeepNone})
			after := open(t, "/a", &o)
			if got, err := after.Get(1); err != nil || !bytes.Equal(got.Content, large.Content) {
				t.Errorf("killed at sync %d, repeated, %s, power cut: %v", n, how, err)
			}
		}
	}
	if found == 0 {
		t.Error(fmt.Errorf("no life found the batch"))
	}
}
