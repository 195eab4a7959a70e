package replay

import (
	"context"
	"slices"
)

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
	// bestPrices are those of best; direction is where the last step went.
	bestPrices, direction []float64
}

// value computes L at the prices, and leaves the subgradient in load.
func (p *packing) value() float64 {
	p.sums[0] = 0
	var paid float64
	for t, price := range p.prices {
		p.sums[t+1] = p.sums[t] + price
		paid += float64(price * p.room[t])
		p.load[t] = 0
	}
	p.load[len(p.prices)] = 0
	total := p.certain
	for i := range p.intervals {
		iv := &p.intervals[i]
		if rent := float64(float64(iv.size) * (p.sums[iv.to] - p.sums[iv.from])); rent < iv.cost {
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
	all := make([]density, 0, len(p.intervals))
	for i := range p.intervals {
		iv := &p.intervals[i]
		if volume := float64(iv.size) * float64(iv.to-iv.from); volume > 0 { // what has no size is always kept
			all = append(all, density{iv.cost / volume, volume})
		}
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

// Limits of the ascent: more rounds tighten the bound a little.
const (
	maxRounds = 1000
	maxWork   = 200e6 // intervals and instants looked at
	patience  = 8     // rounds without progress until the target comes closer
	inertia   = 0.7   // how much of the last direction is kept
)

// ascend improves the prices by subgradient steps of Polyak's length towards a
// target a little above the best so far, as Held, Wolfe, Crowder, "Validation of
// subgradient optimization", Mathematical Programming 6, 1974.
func (p *packing) ascend(ctx context.Context, b *Bound) error {
	p.best = p.constant()
	b.PFOOL = p.best
	p.bestPrices = append(p.bestPrices[:0], p.prices...)
	ceiling := p.certain // what keeping nothing costs: above any optimum
	for i := range p.intervals {
		ceiling += p.intervals[i].cost
	}
	gap := 0.1 * (ceiling - p.best)
	rounds := min(maxRounds, int(maxWork/float64(len(p.intervals)+len(p.prices)+1))+20)
	p.direction = append(p.direction[:0], p.prices...)
	clear(p.direction)
	for stale := 0; b.Rounds < rounds && gap > 1e-4*ceiling; b.Rounds++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		value := p.value()
		if value > p.best+0.02*gap {
			stale = 0
		}
		if value > p.best {
			p.best = value
			copy(p.bestPrices, p.prices)
		}
		if stale++; stale > patience {
			gap, stale = gap/2, 0
			copy(p.prices, p.bestPrices)
			clear(p.direction)
			continue
		}
		if !p.move(p.best + gap - value) {
			break
		}
	}
	return nil
}

// move takes one step that would raise L by want if L were linear. It reports
// false where there is no way up: the prices are optimal.
// REQUIRES: load is the subgradient at the prices.
func (p *packing) move(want float64) bool {
	var norm float64
	for t, g := range p.load[:len(p.prices)] {
		if p.prices[t] == 0 && g < 0 {
			g = 0
		}
		p.direction[t] = float64(inertia*p.direction[t]) + float64((1-inertia)*g)
		norm += float64(p.direction[t] * p.direction[t])
	}
	if norm == 0 {
		return false
	}
	length := want / norm
	for t, d := range p.direction {
		p.prices[t] = max(0, p.prices[t]+float64(length*d))
	}
	return true
}
