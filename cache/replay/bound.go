package replay

import (
	"context"
)

// Bound is what no cache of the budget can go below, whatever it knows.
type Bound struct {
	Trace      string
	Options    Options
	Recalls    int64
	RecallSize int64
	Faults     float64 // a lower bound on Run.Faults
	FaultSize  float64 // a lower bound on Run.FaultSize
	// PFOOL is the same bound on faults with one price for all times, which is
	// that of Berger et al.; never above Faults.
	PFOOL  float64
	Rounds int // of the ascent
}

// FaultRate is a lower bound on Run.FaultRate.
func (b *Bound) FaultRate() float64 { return ratio(b.Faults, float64(b.Recalls)) }

// ByteMissRatio is a lower bound on Run.ByteMissRatio.
func (b *Bound) ByteMissRatio() float64 { return ratio(b.FaultSize, float64(b.RecallSize)) }

// LowerBound bounds from below the faults of every cache that has the budget and
// the page size of the options, admits what it loads, and brings the recent tail
// back at each step as Simulate does; Belady included. Policy and LowWatermark play no part.
//
// Between two references to a page, the page was either kept all the time, and
// the second is a hit, or it was not, and the second is a fault that costs c_i.
// Let x_i say whether interval i is kept, s_i its size, and C_t the room at
// instant t beside what must be resident then: the page referenced, or the tail.
// The kept intervals that cover t fit into C_t, so no cache has less than
//
//	min  sum_i c_i (1 - x_i)   with  sum_{i covers t} s_i x_i <= C_t,  0 <= x_i <= 1.
//
// Interval packing is due to Berger, Beckmann, Harchol-Balter, "Practical Bounds
// on Optimal Caching with Variable Object Sizes", POMACS 2(2), 2018 (FOO). Here
// it is bounded by its Lagrangian dual. Take any prices l_t >= 0 and charge what
// lies above C_t at l_t: a feasible x pays nothing or gets something back, so
//
//	L(l) = min_{0<=x<=1} sum_i c_i (1 - x_i) + sum_t l_t (sum_{i covers t} s_i x_i - C_t)
//	     = sum_i min(c_i, s_i P_i) - sum_t l_t C_t,   P_i = sum of l_t over the instants i covers
//
// is at most the minimum above, for every choice of prices. That is all the
// validity that is needed: better prices only tighten it. PFOO-L of the same
// paper replaces the capacities by their sum over time, which is this program
// with one price for all t; its optimum, by duality of a fractional knapsack, is
// max L over constant prices. The ascent starts there and keeps the best L seen,
// so it is never below PFOO-L, and approaches the linear program itself.
//
// A recall of k parts faults if any is absent, so each of them counts 1/k.
func LowerBound(ctx context.Context, t *Trace, o Options) (Bound, error) {
	if err := o.complete(); err != nil {
		return Bound{}, err
	}
	if err := (paging{o.PageSize}).check(t); err != nil {
		return Bound{}, err
	}
	b := Bound{Trace: t.Name, Options: o}
	p := newPacking(t, o)
	b.Recalls, b.RecallSize = p.recalls, p.recallSize
	if err := p.ascend(ctx, &b); err != nil {
		return Bound{}, err
	}
	faults := p.best
	for i := range p.intervals {
		p.intervals[i].cost = float64(p.intervals[i].size)
	}
	p.certain = p.certainSize
	var ofSize Bound
	if err := p.ascend(ctx, &ofSize); err != nil {
		return Bound{}, err
	}
	b.Faults, b.FaultSize = faults, p.best
	return b, nil
}
