package fuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// Sequences that once lost turns or made a file unreadable.

const foundTurns = 20

func foundOptions(fs disk.FS, seed byte) *engine.Options {
	return &engine.Options{FS: fs, Inline: true, LogBytes: 16 << 10, ReuseDelay: -1, Entropy: rand.NewChaCha8([32]byte{seed})}
}

// logged is a file with some acknowledged turns in its log.
func foundLog(t *testing.T) (*disk.Mem, *engine.DB) {
	t.Helper()
	mem := disk.NewMem(1)
	db, err := engine.Open("/a", foundOptions(mem, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range foundTurns {
		if _, err := db.Append(context.Background(), engine.Turn{Role: "user", Content: fmt.Appendf(nil, "turn %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	return mem, db
}

// cutEverywhere takes images in all modes before each operation of run that
// changes something, and checks that each has the acknowledged turns.
func cutEverywhere(t *testing.T, mem *disk.Mem, what string, run func()) {
	t.Helper()
	mem.SetHook(func(op disk.Op) error {
		if !op.Kind.Changes() || t.Failed() {
			return nil
		}
		for _, v := range disk.Variants(uint64(op.N)) {
			db, err := engine.Open("/a", foundOptions(mem.Crash(v), 9))
			if err != nil {
				t.Errorf("%s, cut before %v, %v: %v", what, op, v, err)
				return nil
			}
			if n, lost := db.Stats().Turns, db.Recovery().Lost; n < foundTurns || lost > 0 {
				t.Errorf("%s, cut before %v, %v: %d turns, %d lost", what, op, v, n, lost)
			}
		}
		return nil
	})
	defer mem.SetHook(nil)
	run()
}

// Recovery wrote the superblock that it had found again with another nextLSN
// and the old log, under the same epoch: a crash that tore the other slot's
// publication left a file that nobody could open.
func TestFoundConfirmRewritesSuperblock(t *testing.T) {
	mem, _ := foundLog(t)
	cutEverywhere(t, mem.Crash(disk.Variant{}), "nothing", func() {}) // the log is durable
	im := mem.Crash(disk.Variant{})
	cutEverywhere(t, im, "recovery", func() {
		if _, err := engine.Open("/a", foundOptions(im, 2)); err != nil {
			t.Error(err)
		}
	})
}

// A life ends while it publishes a state without log: its sync fails, or its
// process is killed before the sync. The next life finds that state in the
// page cache, and wrote over the log, which the durable superblock still
// names, before the new superblock was durable.
func TestFoundReuseBeforeConfirm(t *testing.T) {
	for _, how := range []error{&disk.FailedSync{Err: errors.New("lost")}, errors.New("killed")} {
		for n := 1; n <= 8; n++ {
			t.Run(fmt.Sprintf("%T/sync %d", how, n), func(t *testing.T) {
				mem, db := foundLog(t)
				reopenAfterCheckpoint(t, mem, db, how, n, func(db *engine.DB) error {
					_, err := db.Append(context.Background(), engine.Turn{Role: "user", Content: []byte("one more")})
					return err
				})
			})
		}
	}
}

// The same, but the next life is opened and closed, no more. Close found
// nothing to put away, moved the end of the file into holes and cut it, while
// the durable superblock still named what lay there.
func TestFoundTidyBeforeConfirm(t *testing.T) {
	for _, how := range []error{&disk.FailedSync{Err: errors.New("lost")}, errors.New("killed")} {
		for n := 1; n <= 8; n++ {
			t.Run(fmt.Sprintf("%T/sync %d", how, n), func(t *testing.T) {
				mem, db := foundLog(t)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db, err := engine.Open("/a", foundOptions(mem, 4))
				if err == nil {
					_, err = db.Append(context.Background(), engine.Turn{Role: "user", Content: []byte("what the last segment takes in")})
				}
				if err != nil {
					t.Fatal(err)
				}
				reopenAfterCheckpoint(t, mem, db, how, n, (*engine.DB).Close)
			})
		}
	}
}

// reopenAfterCheckpoint ends a life at the n-th sync of a checkpoint, and cuts
// the power everywhere in the next one.
func reopenAfterCheckpoint(t *testing.T, mem *disk.Mem, db *engine.DB, how error, n int, next func(*engine.DB) error) {
	syncs := 0
	mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpSync {
			if syncs++; syncs >= n {
				return how
			}
		}
		return nil
	})
	if err := db.Checkpoint(context.Background()); err == nil && syncs >= n {
		t.Fatalf("sync %d failed, the checkpoint did not", n)
	}
	mem.SetHook(nil)
	mem.Restart()
	cutEverywhere(t, mem, "the life after", func() {
		db, err := engine.Open("/a", foundOptions(mem, 2))
		if err != nil {
			t.Error(err)
			return
		}
		if err := next(db); err != nil {
			t.Error(err)
		}
	})
}

// A seal whose sync had failed was tried again on the broken handle: it wrote
// over the spare log extent, which the superblocks named by then.
func TestFoundSealAgainAfterFailedSync(t *testing.T) {
	for n := range 80 { // the extent is full at about the fortieth sync
		mem, db := foundLog(t)
		syncs, failed := 0, false
		mem.SetHook(func(op disk.Op) error {
			if failed && op.Kind == disk.OpWrite {
				t.Errorf("sync %d failed, then came %v", n, op)
			}
			if op.Kind != disk.OpSync || failed {
				return nil
			}
			if syncs++; syncs <= n {
				return nil
			}
			failed = true
			return &disk.FailedSync{Err: errors.New("lost"), Reached: disk.Variant{Mode: disk.KeepAll}}
		})
		acknowledged := uint64(foundTurns)
		for !failed {
			ids, err := db.Append(context.Background(), engine.Turn{Role: "user", Content: fmt.Appendf(nil, "%0120d", syncs)})
			if err == nil {
				acknowledged = uint64(ids[0])
			}
		}
		mem.SetHook(nil)
		mem.Restart()
		after, err := engine.Open("/a", foundOptions(mem, 3))
		if err != nil {
			t.Fatalf("sync %d failed: %v", n, err)
		}
		if got := after.Stats().Turns; got < acknowledged || after.Recovery().Lost > 0 {
			t.Errorf("sync %d failed: %d turns of %d", n, got, acknowledged)
		}
	}
}

// A promise that found no space behind an acknowledged group put the log away
// before the group was shown: the turn was lost, and the handle fell over.
func TestFoundPromiseWithoutSpace(t *testing.T) {
	for _, how := range []error{syscall.ENOSPC, syscall.EIO} {
		mem, db := foundLog(t)
		writes := 0
		mem.SetHook(func(op disk.Op) error {
			if op.Kind == disk.OpWrite {
				if writes++; writes == 2 { // the group, then its promise
					return how
				}
			}
			return nil
		})
		ids, err := db.Append(context.Background(), engine.Turn{Role: "user", Content: []byte("the last")})
		if err != nil || writes < 2 {
			t.Fatalf("%v: after %d writes: %v", how, writes, err)
		}
		mem.SetHook(nil)
		if got, err := db.Get(ids[0]); err != nil || string(got.Content) != "the last" {
			t.Errorf("%v: acknowledged, and reads as %q, %v", how, got.Content, err)
		}
		mem.Restart()
		after, err := engine.Open("/a", foundOptions(mem, 2))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := after.Get(ids[0]); err != nil || string(got.Content) != "the last" {
			t.Errorf("%v: acknowledged, and reads as %q after the next open, %v", how, got.Content, err)
		}
	}
}
