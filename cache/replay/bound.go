package replay

import (
	"context"
	"math"
	"slices"
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
	PFOOL      float64
	Iterations int
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

// interval lies between two references of one page.
type interval struct {
	from, to int32 // instants: from <= t < to
	size     int64
	cost     float64 // of not keeping it
}

// packing is the program and its dual.
type packing struct {
	intervals  []interval
	room       []float64 // C_t
	recalls    int64
	recallSize int64
	// certain is the cost of what is a fault for everybody: first references,
	// and what is larger than the budget.
	certain, certainSize float64

	prices []float64
	sums   []float64 // sums[t] is the sum of prices before t
	load   []float64 // differences, then sums: what is kept at t
	best   float64
	// bestPrices are those of best.
	bestPrices []float64
}

// value computes L at the prices, and leaves the subgradient in load.
func (p *packing) value() float64 {
	p.sums[0] = 0
	var paid float64
	for t, price := range p.prices {
		p.sums[t+1] = p.sums[t] + price
		paid += price * p.room[t]
		p.load[t] = 0
	}
	p.load[len(p.prices)] = 0
	total := p.certain
	for i := range p.intervals {
		iv := &p.intervals[i]
		if rent := float64(iv.size) * (p.sums[iv.to] - p.sums[iv.from]); rent < iv.cost {
			total += rent
			p.load[iv.from] += float64(iv.size)
			p.load[iv.to] -= float64(iv.size)
		} else {
			total += iv.cost
		}
	}
	var kept float64
	for t := range p.prices {
		kept += p.load[t]
		p.load[t] = kept - p.room[t]
	}
	return total - paid
}

// constant sets all prices to the one that is best then, which gives PFOO-L.
func (p *packing) constant() float64 {
	type density struct{ price, volume float64 }
	all := make([]density, len(p.intervals))
	for i := range p.intervals {
		iv := &p.intervals[i]
		volume := float64(iv.size) * float64(iv.to-iv.from)
		all[i] = density{iv.cost / volume, volume}
	}
	slices.SortFunc(all, func(a, b density) int { // dearest first
		switch {
		case a.price > b.price:
			return -1
		case a.price < b.price:
			return 1
		}
		return 0
	})
	var room, used float64
	for _, c := range p.room {
		room += c
	}
	price := 0.0
	for _, d := range all {
		if used += d.volume; used > room {
			price = d.price // the first that does not fit any more
			break
		}
	}
	for t := range p.prices {
		p.prices[t] = price
	}
	return p.value()
}

// Limits of the ascent: more iterations tighten the bound a little.
const (
	maxIterations = 1000
	maxWork       = 200e6 // intervals and instants looked at
)

// ascend improves the prices by subgradient steps of Polyak's length towards a
// target a little above the best so far, as Held, Wolfe, Crowder, "Validation of
// subgradient optimization", Mathematical Programming 6, 1974.
func (p *packing) ascend(ctx context.Context, b *Bound) error {
	if len(p.intervals) == 0 {
		p.best = p.certain
		b.PFOOL = p.best
		return nil
	}
	p.best = p.constant()
	b.PFOOL = p.best
	p.bestPrices = append(p.bestPrices[:0], p.prices...)
	ceiling := p.certain // what keeping nothing costs: above any optimum
	for i := range p.intervals {
		ceiling += p.intervals[i].cost
	}
	gap := 0.1 * (ceiling - p.best)
	rounds := min(maxIterations, int(maxWork/float64(len(p.intervals)+len(p.prices)))+20)
	direction := make([]float64, len(p.prices))
	stale := 0
	for b.Iterations < rounds && gap > 1e-4*ceiling {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.Iterations++
		value := p.value()
		if value > p.best {
			if value > p.best+0.02*gap {
				stale = 0
			}
			p.best = value
			copy(p.bestPrices, p.prices)
		}
		if stale++; stale > 8 {
			gap, stale = gap/2, 0
			copy(p.prices, p.bestPrices)
			clear(direction)
			continue
		}
		var norm float64
		for t := range direction {
			g := p.load[t]
			if p.prices[t] == 0 && g < 0 {
				g = 0
			}
			direction[t] = 0.7*direction[t] + 0.3*g
			norm += direction[t] * direction[t]
		}
		if norm == 0 {
			break
		}
		length := (p.best + gap - value) / norm
		for t := range p.prices {
			p.prices[t] = math.Max(0, p.prices[t]+length*direction[t])
		}
	}
	return nil
}
