package fuzz

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// player runs the operations of a history on a file of Mem, and keeps the
// model beside it.
type player struct {
	seed   uint64
	set    *optionSet
	mem    *disk.Mem
	fs     disk.FS // mem, or what stands before it
	db     *engine.DB
	window *engine.Window
	life   int    // the number of opens
	serial uint64 // of the next new turn
	step   int    // operations that were run

	mu    sync.Mutex // guards model and cut: a background seal reaches the hook too
	model *Model
	cut   *cutter // nil: the power stays on
	trip  *trip   // nil: nothing fails

	lie     func(op disk.Op) bool  // mutation control: the operation is skipped and reported done
	unheard func(op disk.Op) error // mutation control: its failures of syncs are not reported
	entropy io.Reader              // mutation control: nil is a fresh one for each life
}

func newPlayer(seed uint64, set *optionSet) *player {
	p := &player{seed: seed, set: set, model: &Model{keys: map[string]engine.TurnID{}}}
	p.attach(disk.NewMem(seed))
	return p
}

// attach makes mem the machine. Operations of abandoned handles of the one
// before are not looked at any more.
func (p *player) attach(mem *disk.Mem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mem, p.fs = mem, mem
	if p.unheard != nil {
		p.fs = deafFS{mem}
	}
	mem.SetHook(func(op disk.Op) error { return p.before(mem, op) })
}

// before sees each operation: power is cut first, then the operation may fail.
func (p *player) before(mem *disk.Mem, op disk.Op) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if mem != p.mem {
		return nil
	}
	if p.cut != nil && op.Kind.Changes() {
		p.cut.at(p.model, mem, fmt.Sprintf("life %d, step %d, before %v", p.life, p.step, op))
	}
	if p.trip != nil {
		if err := p.trip.check(op); err != nil {
			return err
		}
	}
	if p.lie != nil && p.lie(op) {
		return disk.SkipOp
	}
	if p.unheard != nil {
		return p.unheard(op)
	}
	return nil
}

// change changes the model beside a cutter in another goroutine.
func (p *player) change(f func(m *Model)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.model)
}

// trip makes operations fail.
type trip struct {
	counts func(disk.Kind) bool
	left   int // operations that still succeed
	how    error
	dead   bool // everything fails from then on: the process is gone
	fired  bool
	wrote  *disk.Op // something was written after the failure
}

var errKilled = errors.New("the process is gone")

func (t *trip) check(op disk.Op) error {
	switch {
	case t.fired && t.dead:
		return errKilled
	case t.fired:
		if t.wrote == nil && (op.Kind == disk.OpWrite || op.Kind == disk.OpSync) {
			t.wrote = &op
		}
		return nil
	case !t.counts(op.Kind):
		return nil
	}
	if t.left--; t.left >= 0 {
		return nil
	}
	t.fired = true
	return t.how
}

// failingSync loses what the n-th sync from now on should have kept; reached
// says what got through.
func failingSync(n int, reached disk.Variant) *trip {
	return &trip{
		counts: func(k disk.Kind) bool { return k == disk.OpSync }, left: n,
		how: &disk.FailedSync{Err: syscall.EIO, Reached: reached},
	}
}

// kill ends the process at the n-th changing operation from now on.
func kill(n int) *trip {
	return &trip{counts: disk.Kind.Changes, left: n, how: errKilled, dead: true}
}

// tripped reports whether a failure of the trip explains the error.
func (p *player) tripped(err error) bool {
	return err != nil && p.trip != nil && p.trip.fired
}

// open begins a life and holds what it finds against the model.
func (p *player) open() error {
	p.life++
	o := p.set.options(p.fs, p.seed, p.life)
	if p.entropy != nil {
		o.Entropy = p.entropy
	}
	db, err := engine.Open(path, o)
	if err != nil {
		return fmt.Errorf("open, life %d: %w", p.life, err)
	}
	p.db, p.window = db, nil
	n := int(db.Stats().NextID) - 1
	p.change(func(m *Model) {
		m.exists = m.exists || p.life == 1 // who makes the file makes its name durable; later lives before they write
		if err = m.allows(n); err != nil {
			return
		}
		if n < len(m.turns) && p.cut != nil {
			p.cut.forget()
		}
		m.settle(n)
		if !db.Recovery().Clean {
			m.durable = n
		}
	})
	if err == nil {
		err = p.model.compare(db, n, 7)
	}
	if err != nil {
		return fmt.Errorf("life %d begins: %w", p.life, err)
	}
	return nil
}

// run runs one operation, and ends the life where a failure was met.
func (p *player) run(op operation) error {
	p.step++
	err := op.run(p)
	if err == nil && p.trip != nil && p.trip.fired {
		err = p.revive()
	}
	if err == nil && p.cut != nil {
		err = p.cut.err
	}
	if err != nil {
		return fmt.Errorf("step %d, %v: %w", p.step, op, err)
	}
	return nil
}

// play opens the file and runs the operations.
func (p *player) play(ops []operation) error {
	err := p.open()
	if p.tripped(err) {
		err = p.revive()
	}
	for _, op := range ops {
		if err != nil {
			return err
		}
		err = p.run(op)
	}
	if err != nil || p.cut == nil {
		return err
	}
	p.change(func(m *Model) {
		p.cut.at(m, p.mem, "the end")
		err = p.cut.err
	})
	return err
}

// revive ends a life that met a failure, and begins another on the same
// machine: the page cache is as it was.
func (p *player) revive() error {
	t := p.trip
	if t.wrote != nil && !p.set.Background { // a seal beside it may be writing to free space
		return fmt.Errorf("%v came after a failure", *t.wrote)
	}
	if !t.dead && p.db != nil {
		if err := p.broken(); err != nil {
			return err
		}
	}
	p.trip, p.db = nil, nil
	p.mem.Restart()
	return p.open()
}

// broken: after a failed write or sync the DB reads and does not write.
func (p *player) broken() error {
	if _, err := p.db.Get(1); errors.Is(err, engine.ErrClosed) {
		return nil // it was met by Close
	}
	if err := p.model.visibleIn(p.db); err != nil {
		return fmt.Errorf("after a failure: %w", err)
	}
	if p.db.Stats().Broken != nil {
		if _, err := p.db.Append(ctx, makeTurn(1<<40, tiny)); !errors.Is(err, engine.ErrBroken) {
			return fmt.Errorf("append after a failure: %v", err)
		}
	}
	if err := p.db.Close(); err != nil && !errors.Is(err, engine.ErrBroken) && !errors.Is(err, engine.ErrClosed) {
		return fmt.Errorf("close after a failure: %w", err)
	}
	if p.trip != nil && p.trip.wrote != nil && !p.set.Background {
		return fmt.Errorf("%v came after a failure", *p.trip.wrote)
	}
	return nil
}

// visibleIn compares all that was acknowledged.
func (m *Model) visibleIn(db *engine.DB) error { return m.compare(db, m.visible, 7) }
