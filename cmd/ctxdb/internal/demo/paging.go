package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ctxdb/cache"
	"ctxdb/cache/replay"
	"ctxdb/engine"
)

// pager refers to turns of a file and knows what each of them should be.
type pager struct {
	db    *engine.DB
	turns []engine.Turn // as appended
	ids   []engine.TurnID
	seeds uint64 // of a mean
	clock func() time.Duration
}

// fill appends the session turn by turn, each durable before the next, and puts
// the log away, so that what is read later is read from a segment.
func (p *pager) fill(ctx context.Context) (Timing, error) {
	samples := make([]time.Duration, 0, len(p.turns))
	for _, t := range p.turns {
		start := p.clock()
		ids, err := p.db.Append(ctx, t)
		if err != nil {
			return Timing{}, err
		}
		samples = append(samples, p.clock()-start)
		p.ids = append(p.ids, ids...)
	}
	return newTiming(samples, resolution(p.clock)), p.db.Checkpoint(ctx)
}

// page runs the references: everything kept, paged by each policy, and paged
// again in the sessions of other seeds.
func (r *Report) page(ctx context.Context, p *pager) (err error) {
	refs, err := p.references(r.References, r.Seed)
	if err != nil {
		return err
	}
	if r.KeepAll, err = p.keepAll(ctx, refs); err != nil {
		return err
	}
	all, done, err := p.sessions(ctx, r.Seed)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	for _, policy := range policies() {
		run, err := p.paged(ctx, policy, r.BudgetTokens, refs)
		if err != nil {
			return err
		}
		if err := run.others(ctx, all, r); err != nil {
			return err
		}
		r.Paged = append(r.Paged, run)
	}
	return r.offline(ctx, all)
}

// sessions are those of several seeds, p's own the first of them. The others
// share a file, which done closes and removes.
func (p *pager) sessions(ctx context.Context, seed uint64) (all []*pager, done func() error, err error) {
	dir, err := os.MkdirTemp("", "ctxdb-demo-")
	if err != nil {
		return nil, func() error { return nil }, err
	}
	done = func() error { return os.RemoveAll(dir) }
	db, err := engine.Open(filepath.Join(dir, "others.ctxdb"), nil)
	if err != nil {
		return nil, done, err
	}
	done = func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }
	all = []*pager{p}
	for i := uint64(1); i < p.seeds; i++ {
		other := &pager{db: db, turns: newSession(seed + i)}
		if other.ids, err = db.Append(ctx, other.turns...); err != nil {
			return nil, done, err
		}
		all = append(all, other)
	}
	return all, done, db.Checkpoint(ctx)
}

// policies are all there are, that of the published demo first.
func policies() []cache.Policy {
	all := []cache.Policy{cache.LRU}
	for _, policy := range cache.Policies() {
		if policy != cache.LRU {
			all = append(all, policy)
		}
	}
	return all
}

// references are n of the published model, to turns by their place in the session.
func (p *pager) references(n int, seed uint64) ([]replay.Item, error) {
	m := replay.PublishedModel(seed)
	m.Items, m.References = len(p.turns), n
	return m.Draw()
}

// others repeats a run in the sessions of several seeds, each with its own
// sizes and references.
func (run *Paging) others(ctx context.Context, all []*pager, r *Report) error {
	var m tally
	for i, p := range all {
		refs, err := p.references(r.References, r.Seed+uint64(i))
		if err != nil {
			return err
		}
		other, err := p.paged(ctx, run.Policy, r.BudgetTokens, refs)
		if err != nil {
			return err
		}
		m.add(float64(other.Faults))
		m.TurnsLost += other.TurnsLost
	}
	run.Mean = &m.Mean
	return nil
}

// keepAll makes everything resident first, as a prompt that only grows has it.
func (p *pager) keepAll(ctx context.Context, refs []replay.Item) (Paging, error) {
	total := 0
	for _, t := range p.turns {
		total += t.Tokens
	}
	w, err := p.window(cache.LRU, total)
	if err != nil {
		return Paging{}, err
	}
	for _, id := range p.ids {
		if _, _, err := w.View(id); err != nil {
			return Paging{}, err
		}
	}
	return p.refer(ctx, w, refs)
}

// paged begins with an empty window: the first reference to a turn is a fault.
func (p *pager) paged(ctx context.Context, policy cache.Policy, budget int, refs []replay.Item) (Paging, error) {
	w, err := p.window(policy, budget)
	if err != nil {
		return Paging{}, err
	}
	run, err := p.refer(ctx, w, refs)
	run.Policy = policy
	return run, err
}

// window is one as the published demo had it: whole turns that are nothing to
// each other, evicted one at a time, and nothing remembered from one run to the
// next.
func (p *pager) window(policy cache.Policy, budget int) (*engine.Window, error) {
	return p.db.Window("", engine.WindowOptions{
		BudgetTokens: budget, Policy: policy, PageTokens: -1, LowWatermark: 1, KeepRecent: -1, KeepSuperseded: true, CallsApart: true,
	})
}

// refer references turns through the window and compares each content with what
// was appended.
func (p *pager) refer(ctx context.Context, w *engine.Window, refs []replay.Item) (Paging, error) {
	before := w.Stats()
	lost := map[replay.Item]bool{}
	for _, i := range refs {
		if err := ctx.Err(); err != nil {
			return Paging{}, err
		}
		t, _, err := w.View(p.ids[i])
		switch {
		case isLoss(err):
			lost[i] = true
		case err != nil:
			return Paging{}, err
		case !bytes.Equal(t.Content, p.turns[i].Content):
			lost[i] = true
		}
	}
	s := w.Stats()
	return Paging{
		References: len(refs), Faults: int(s.Faults - before.Faults), Evictions: int(s.Evictions - before.Evictions),
		PeakTokens: int(s.PeakTokens), TurnsLost: len(lost),
	}, nil
}

// lostInFile reads every turn from the file, referenced or not, and counts those
// that are not what was appended.
func (p *pager) lostInFile() (lost int) {
	for i, id := range p.ids {
		t, err := p.db.Get(id)
		want := &p.turns[i]
		if err != nil || t.Key != want.Key || t.Role != want.Role || !t.Time.Equal(want.Time) || !bytes.Equal(t.Content, want.Content) {
			lost++
		}
	}
	return lost
}

// isLoss tells a turn that is gone or damaged from a run that failed.
func isLoss(err error) bool {
	return errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrCorrupt) || errors.Is(err, engine.ErrTruncated)
}

// describe says how large the session is, and how large it would be as JSONL in
// the form that export writes.
func describe(turns []engine.Turn) (Session, error) {
	s := Session{Turns: len(turns)}
	for i, t := range turns {
		line, err := jsonl(i, t)
		if err != nil {
			return s, fmt.Errorf("turn %d: %w", i+1, err)
		}
		s.Tokens += t.Tokens
		s.LargestTokens = max(s.LargestTokens, t.Tokens)
		s.ContentBytes += int64(len(t.Content))
		s.JSONLBytes += int64(len(line)) + 1
	}
	return s, nil
}
