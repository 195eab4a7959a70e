package fuzz

import (
	"errors"
	"fmt"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// operation is one step of a history. What it does is decided when it runs, so
// that one history runs under many options, and after any crash. The error is
// a contradiction between file and model.
type operation interface {
	run(p *player) error
	String() string
}

// appendOp appends one batch.
type appendOp []item

// item is one turn of a batch.
type item struct {
	size size
	kind itemKind
	pick int // of the turn that it refers to; negative: counted from the last
}

type itemKind uint8

const (
	fresh    itemKind = iota
	reply             // answers an earlier turn, by key where it has one
	repeat            // a turn that is there: no-op
	conflict          // its key with other content: refused
	lost              // answers a key that no turn has: refused
)

func (o appendOp) String() string { return fmt.Sprintf("append %v", []item(o)) }

func (o appendOp) run(p *player) error {
	var batch []engine.Turn
	for _, it := range o {
		batch = append(batch, p.turn(it, batch))
	}
	stored, ids, refused := p.model.plan(batch)
	if refused == nil {
		p.change(func(m *Model) { m.propose(stored) })
	}
	got, err := p.db.Append(ctx, batch...)
	switch {
	case p.tripped(err):
		return nil // kept or not: the next open tells
	case refused != nil:
		if !errors.Is(err, refused) {
			return fmt.Errorf("%v, want %w", err, refused)
		}
		return p.model.visibleIn(p.db)
	case err != nil:
		return err
	case fmt.Sprint(got) != fmt.Sprint(ids):
		return fmt.Errorf("ids %d, want %d", got, ids)
	}
	p.change(func(m *Model) { m.acknowledge(p.set.durable()) })
	return nil
}

// turn makes the turn of an item.
func (p *player) turn(it item, batch []engine.Turn) engine.Turn {
	known := append(p.model.turns[:p.model.visible:p.model.visible], batch...)
	if it.kind == fresh || len(known) == 0 && it.kind != lost {
		p.serial++
		return makeTurn(p.serial, it.size)
	}
	if it.kind == lost {
		return engine.Turn{Role: "user", ReplyKey: "no such key"}
	}
	old := known[(it.pick%len(known)+len(known))%len(known)]
	if it.kind == reply || old.Key == "" {
		p.serial++
		t := makeTurn(p.serial, it.size)
		if t.ReplyKey = old.Key; old.Key == "" {
			t.ReplyTo = old.ID
		}
		return t
	}
	if it.kind == conflict {
		old.Content = append([]byte("not "), old.Content...)
	}
	old.ID, old.Summary = 0, "said again"
	return old
}

type checkpointOp struct{}

func (checkpointOp) String() string { return "checkpoint" }

func (checkpointOp) run(p *player) error { return p.makeDurable(p.db.Checkpoint(ctx)) }

type syncOp struct{}

func (syncOp) String() string { return "sync" }

func (syncOp) run(p *player) error {
	unconfirmed := p.set.durable() && p.model.durable < p.model.visible // seen at open, never acknowledged here
	err := p.db.Sync(ctx)
	if err == nil && unconfirmed {
		return nil
	}
	return p.makeDurable(err)
}

func (p *player) makeDurable(err error) error {
	if p.tripped(err) {
		return nil
	}
	if err == nil {
		p.change(func(m *Model) { m.durable = m.visible })
	}
	return err
}

// readOp reads everything.
type readOp struct{}

func (readOp) String() string { return "read" }

func (readOp) run(p *player) error {
	if err := p.model.visibleIn(p.db); err != nil {
		return err
	}
	return verified(p.db, false)
}

// reopenOp closes and opens again.
type reopenOp struct{}

func (reopenOp) String() string { return "close, open" }

func (reopenOp) run(p *player) error {
	logged := p.db.Stats().State == "open"
	err := p.db.Close()
	if p.tripped(err) || err != nil {
		if p.tripped(err) {
			return nil
		}
		return err
	}
	if logged || p.model.durable == p.model.visible {
		p.change(func(m *Model) { m.durable = m.visible })
	}
	if p.trip != nil && p.trip.fired { // met by what may fail without harm
		return nil
	}
	err = p.open()
	if p.tripped(err) {
		p.db = nil
		return nil
	}
	return err
}

// restartOp ends the process without a word.
type restartOp struct{}

func (restartOp) String() string { return "restart" }

func (restartOp) run(p *player) error {
	p.mem.Restart()
	p.db = nil
	err := p.open()
	if p.tripped(err) {
		return nil
	}
	return err
}

// powerOp cuts the power and goes on with what is left.
type powerOp struct{ v disk.Variant }

func (o powerOp) String() string { return fmt.Sprintf("power cut %v", o.v) }

func (o powerOp) run(p *player) error {
	if p.cut != nil {
		p.cut.forget()
	}
	p.attach(p.mem.Crash(o.v))
	p.db = nil
	err := p.open()
	if p.tripped(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p.change(func(m *Model) { m.durable = m.visible }) // it came from the disk
	return nil
}

// tripOp arms a failure that later operations run into.
type tripOp struct {
	n    int
	kill bool
	v    disk.Variant
}

func (o tripOp) String() string {
	if o.kill {
		return fmt.Sprintf("kill at change %d", o.n)
	}
	return fmt.Sprintf("sync %d fails, %v", o.n, o.v)
}

func (o tripOp) run(p *player) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trip = failingSync(o.n, o.v); o.kill {
		p.trip = kill(o.n)
	}
	return nil
}

// windowOp reads through a window.
type windowOp struct{ first, step int }

func (o windowOp) String() string { return fmt.Sprintf("window from %d by %d", o.first, o.step) }

func (o windowOp) run(p *player) error {
	const budget = 2000
	if p.window == nil {
		w, err := p.db.Window("w", engine.WindowOptions{BudgetBytes: budget})
		if err != nil {
			return err
		}
		p.window = w
	}
	for i := range min(12, p.model.visible) {
		want := p.model.turns[(o.first+i*(o.step+1))%p.model.visible]
		got, _, err := p.window.Get(want.ID)
		if len(want.Content) > budget {
			if !errors.Is(err, engine.ErrOverBudget) {
				return fmt.Errorf("window: turn %d is larger than the budget: %v", want.ID, err)
			}
			continue
		}
		if err == nil {
			err = sameTurn(want, got)
		}
		if err != nil {
			return fmt.Errorf("window: %w", err)
		}
		if i == 0 && len(want.Content) < budget/4 {
			if err := p.window.Pin(want.ID); err != nil {
				return err
			}
			defer p.window.Unpin(want.ID)
		}
	}
	if s := p.window.Stats(); s.PeakBytes > budget {
		return fmt.Errorf("window: %d bytes were resident", s.PeakBytes)
	}
	return nil
}

// searchOp searches, and reads what is found.
type searchOp struct{}

func (searchOp) String() string { return "search" }

func (searchOp) run(p *player) error {
	hits, err := p.db.Search(ctx, engine.Query{Text: "window fault turn log", K: 5})
	if err != nil {
		return err
	}
	for _, h := range hits {
		got, err := p.db.Get(h.ID)
		if err != nil {
			return fmt.Errorf("hit %d: %w", h.ID, err)
		}
		if int(h.ID) > p.model.visible {
			return fmt.Errorf("search invents turn %d", h.ID)
		}
		if err := sameTurn(p.model.turns[h.ID-1], got); err != nil {
			return err
		}
	}
	return nil
}
