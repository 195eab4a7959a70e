package demo

import (
	"context"
	"math"

	"ctxdb/cache/replay"
)

// Offline is what somebody could reach, or could not go below, who knows the
// references in advance. See package replay.
type Offline struct {
	Name   string  `json:"name"`   // belady-size, lower bound
	Faults float64 `json:"faults"` // a whole number but for the bound
	Mean   *Mean   `json:"mean"`
}

// offline computes both over the same references, and in the sessions of other
// seeds.
func (r *Report) offline(ctx context.Context, all []*pager) error {
	var belady, bound tally
	for i, p := range all {
		t, err := p.trace(r.References, r.Seed+uint64(i))
		if err != nil {
			return err
		}
		o := replay.Options{Budget: int64(r.BudgetTokens), Recent: -1} // whole turns, one at a time
		run, err := replay.Belady(ctx, t, o)
		if err != nil {
			return err
		}
		b, err := replay.LowerBound(ctx, t, o)
		if err != nil {
			return err
		}
		belady.add(float64(run.Faults))
		bound.add(down(b.Faults))
	}
	r.Offline = []Offline{{replay.RowBelady, belady.first, &belady.Mean}, {replay.RowBound, bound.first, &bound.Mean}}
	return nil
}

// trace is the references as package replay takes them.
func (p *pager) trace(n int, seed uint64) (*replay.Trace, error) {
	refs, err := p.references(n, seed)
	if err != nil {
		return nil, err
	}
	t := &replay.Trace{Name: "demo", Items: len(p.turns), IsPlain: true}
	for i, it := range refs {
		t.Refs = append(t.Refs, replay.Ref{Step: replay.Step(i), Item: it, Size: int64(p.turns[it].Tokens), Parent: it})
	}
	return t, nil
}

// down keeps a decimal and is never above x: a lower bound stays one.
func down(x float64) float64 { return math.Floor(10*x) / 10 }

// tally makes a Mean.
type tally struct {
	Mean
	first, sum float64
}

func (t *tally) add(faults float64) {
	if t.Seeds == 0 {
		t.first, t.Min = faults, faults
	}
	t.Seeds++
	t.sum += faults
	t.Faults = t.sum / float64(t.Seeds)
	t.Min, t.Max = min(t.Min, faults), max(t.Max, faults)
}
