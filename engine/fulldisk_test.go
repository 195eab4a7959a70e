package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// A disk that fills up is met before a commit, not after it: what was
// acknowledged is put away by Close, however little of it repeats.
func TestFullDiskDoesNotFailClose(t *testing.T) {
	for _, size := range []int{3000, 200}[:trial.Size(2, 1)] {
		for quota := int64(400 << 10); quota < 2<<20; quota += int64(trial.Size(220<<10, 900<<10)) {
			closeFull(t, size, quota, 0)
		}
	}
	// A log that has grown to its full size rotates in what others gave back.
	for quota := int64(300 << 10); quota < 3<<20; quota += int64(trial.Size(230<<10, 900<<10)) {
		closeFull(t, 3000, quota, 128<<10)
	}
}

func closeFull(t *testing.T, size int, quota, logBytes int64) {
	mem := disk.NewMem(1)
	o := &Options{FS: mem, Inline: true, ReuseDelay: -1, LogBytes: logBytes}
	db := open(t, "/a", o)
	mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpWrite && op.Off+int64(op.Len) > quota {
			return &disk.ShortWrite{N: int(max(0, quota-op.Off)), Err: syscall.ENOSPC}
		}
		return nil
	})
	rng := rand.New(rand.NewPCG(1, 2))
	var err error
	n := 0
	for ; err == nil; n++ {
		var b bytes.Buffer
		for b.Len() < size {
			fmt.Fprintf(&b, "%x ", rng.Uint64()>>20)
		}
		_, err = db.Append(ctx, Turn{Key: fmt.Sprintf("%x", rng.Uint64()), Role: "user", Content: b.Bytes()})
	}
	n-- // the last was refused
	if !errors.Is(err, ErrNoSpace) || errors.Is(err, ErrBroken) {
		t.Errorf("turns of %d, %d bytes of disk: %v", size, quota, err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("turns of %d, %d bytes of disk, %d turns: %v", size, quota, n, err)
		return
	}
	db = open(t, "/a", o)
	if got := db.Stats().Turns; got != uint64(n) {
		t.Errorf("turns of %d, %d bytes of disk: %d turns of %d", size, quota, got, n)
	}
	wellFormed(t, db)
}
