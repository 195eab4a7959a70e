package fuzz

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// fullDisk refuses to make the file longer than a quota.
type fullDisk struct {
	*player
	quota int64 // 0: there is space again
	full  int   // operations that met the quota
}

// play: what meets the quota changes nothing, says so, and works once there is
// space again.
func (d *fullDisk) play(quota int64) error {
	d.mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpWrite && d.quota > 0 && op.Off+int64(op.Len) > d.quota {
			return &disk.ShortWrite{N: int(max(0, d.quota-op.Off)), Err: syscall.ENOSPC}
		}
		return nil
	})
	if err := d.player.open(); err != nil {
		return err
	}
	for i, op := range faultHistory() {
		d.quota = max(quota, int64(len(d.mem.Bytes(path)))) // what the file has, it keeps
		if _, ok := op.(reopenOp); ok {
			d.quota = 0
		}
		err := op.run(d.player)
		d.quota = 0
		if err != nil {
			if d.full++; !errors.Is(err, engine.ErrNoSpace) {
				return fmt.Errorf("step %d, %v: %w", i, op, err)
			}
			d.model.withdraw()
			if err := d.model.visibleIn(d.db); err != nil {
				return fmt.Errorf("step %d, %v, after no space: %w", i, op, err)
			}
			if err := op.run(d.player); err != nil {
				return fmt.Errorf("step %d, %v, with space again: %w", i, op, err)
			}
		}
	}
	c := newCutter(uint64(quota))
	c.write, c.deep = 1, 0
	return c.look(d.model, d.mem.Crash(disk.Variant{Mode: disk.KeepNone}))
}

// TestFullDisk has the disk fill up at each length of the file, in steps of
// 4 KiB.
func TestFullDisk(t *testing.T) {
	step, met := int64(amount(24, 6, 1))*4096, 0
	for quota := int64(12288); ; quota += step {
		d := &fullDisk{player: newPlayer(uint64(quota), &optionSets[0])}
		if err := d.play(quota); err != nil {
			t.Fatalf("quota of %d bytes: %v", quota, err)
		}
		if met += d.full; d.full == 0 {
			break
		}
	}
	if met == 0 {
		t.Error("the disk was never full")
	}
	t.Logf("%d operations met a full disk", met)
}
