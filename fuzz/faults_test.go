package fuzz

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// faultHistory fills and seals the log twice, and has everything else once: a
// life ends without Close, so that the next one recovers, and every way of
// reading is used.
func faultHistory() []operation {
	var ops []operation
	for i := range 7 {
		var o appendOp
		for range 14 {
			o = append(o, item{size: small, pick: i})
		}
		ops = append(ops, o, appendOp{{size: tiny}})
	}
	return append(ops, appendOp{{size: long}}, checkpointOp{}, appendOp{{size: small}, {size: tiny}}, readOp{}, searchOp{}, windowOp{3, 5},
		restartOp{}, appendOp{{size: tiny}}, reopenOp{}, searchOp{}, appendOp{{size: tiny}})
}

// fault is one way in which a disk fails.
type fault struct {
	name    string
	kinds   []disk.Kind
	err     error
	noSpace bool
}

var faults = []fault{
	{"EIO", []disk.Kind{disk.OpWrite, disk.OpSync, disk.OpSyncDir, disk.OpLink, disk.OpCreateTemp}, syscall.EIO, false},
	{"ENOSPC", []disk.Kind{disk.OpWrite}, syscall.ENOSPC, true},
	{"short write", []disk.Kind{disk.OpWrite}, &disk.ShortWrite{N: 100, Err: syscall.ENOSPC}, true},
	{"short write without a reason", []disk.Kind{disk.OpWrite}, &disk.ShortWrite{N: 10}, false},
	{"failed sync", []disk.Kind{disk.OpSync}, &disk.FailedSync{Err: syscall.EIO, Reached: disk.Variant{Mode: disk.Mixed, Seed: 3}}, false},
	{"read error", []disk.Kind{disk.OpRead}, syscall.EIO, false},
}

// faulty plays the history on a disk whose n-th operation of these kinds fails.
type faulty struct {
	*player
	in    *disk.Inject
	fault fault
}

// failAt reports whether the n-th operation was reached.
func failAt(f fault, n int, forGood bool) (reached bool, err error) {
	p := newPlayer(uint64(n), &optionSets[0])
	in := disk.NewInject(p.mem)
	p.fs = in
	r := disk.Rule{Kinds: f.kinds, N: int64(n), Err: f.err}
	if forGood {
		r.Until = disk.Forever
	}
	in.Add(r)
	x := &faulty{player: p, in: in, fault: f}
	if err := x.open(); err != nil {
		return in.Fired() > 0, err
	}
	for i, op := range faultHistory() {
		if err := x.do(op); err != nil {
			return true, fmt.Errorf("step %d, %v: %w", i, op, err)
		}
	}
	if in.Fired() == 0 {
		return false, nil
	}
	in.Heal()
	for _, v := range disk.Variants(uint64(n)) {
		c := newCutter(uint64(n))
		c.write, c.deep = 3, 0
		if err := c.look(p.model, p.mem.Crash(v)); err != nil {
			return true, fmt.Errorf("then %v: %w", v, err)
		}
	}
	return true, nil
}

// open opens, on a healed disk if the first time fails.
func (x *faulty) open() error {
	before := x.in.Fired()
	err := x.player.open()
	if err == nil || x.in.Fired() == before {
		return err
	}
	x.in.Heal()
	x.mem.Restart()
	return x.player.open()
}

// do runs one operation of the history, and whatever a failure makes necessary.
func (x *faulty) do(op operation) error {
	x.step++
	switch o := op.(type) {
	case appendOp:
		return x.append(o)
	case restartOp:
		x.mem.Restart()
		x.db = nil
		return x.open()
	case reopenOp:
		err := x.db.Close()
		if err != nil && x.in.Fired() == 0 {
			return err
		}
		if err != nil {
			x.in.Heal()
			x.mem.Restart()
		} else {
			x.model.durable = x.model.visible
		}
		return x.open()
	}
	err := op.run(x.player)
	if err == nil || x.in.Fired() == 0 {
		return err
	}
	return x.after(err, func() error { return op.run(x.player) })
}

func (x *faulty) append(o appendOp) error {
	var batch []engine.Turn
	for _, it := range o {
		batch = append(batch, x.turn(it, batch))
	}
	try := func() error {
		stored, ids, err := x.model.plan(batch)
		if err != nil {
			return err
		}
		x.model.propose(stored)
		got, err := x.db.Append(ctx, batch...)
		if err != nil {
			return err
		}
		if fmt.Sprint(got) != fmt.Sprint(ids) {
			return fmt.Errorf("ids %d, want %d", got, ids)
		}
		x.model.acknowledge(true)
		return nil
	}
	err := try()
	if err == nil || x.in.Fired() == 0 {
		return err
	}
	return x.after(err, try)
}

// after holds a failed operation against its contract, and does it again on
// a disk that is well: in the same life after ErrNoSpace, in the next after
// ErrBroken.
func (x *faulty) after(err error, again func() error) error {
	reading := x.fault.kinds[0] == disk.OpRead
	switch {
	case errors.Is(err, engine.ErrNoSpace) && x.fault.noSpace:
		x.model.withdraw()
	case errors.Is(err, engine.ErrBroken), reading && errors.Is(err, syscall.EIO):
	default:
		return fmt.Errorf("neither no space nor broken: %w", err)
	}
	if errors.Is(err, engine.ErrBroken) && errors.Is(err, engine.ErrNoSpace) {
		return fmt.Errorf("no space and broken at once: %w", err)
	}
	x.in.Heal()
	if err := x.model.compareOpen(x.db); err != nil {
		return fmt.Errorf("after %v: %w", x.fault.name, err)
	}
	if x.db.Stats().Broken == nil {
		return again()
	}
	if _, err := x.db.Append(ctx, makeTurn(1, tiny)); !errors.Is(err, engine.ErrBroken) {
		return fmt.Errorf("broken, and an append says %v", err)
	}
	if err := x.db.Close(); !errors.Is(err, engine.ErrBroken) {
		return fmt.Errorf("broken, and close says %v", err)
	}
	x.mem.Restart()
	before := x.model.visible
	if err := x.player.open(); err != nil {
		return err
	}
	if x.model.visible > before {
		return nil // it was kept after all
	}
	return again()
}

func (m *Model) compareOpen(db *engine.DB) error { return m.compare(db, m.visible, 5) }

// TestFailingDisk fails the n-th operation for every n, once and for good.
func TestFailingDisk(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			tried := 0
			step := amount(149, 19, 1)
			for _, forGood := range []bool{false, true} {
				for n := 1; n < 3000; n += step {
					reached, err := failAt(f, n, forGood)
					if err != nil {
						t.Fatalf("operation %d fails (for good: %v): %v", n, forGood, err)
					}
					if !reached {
						break
					}
					tried++
				}
			}
			t.Logf("%d failures", tried)
		})
	}
}
