package replay

import (
	"math/rand/v2"
	"testing"

	"ctxdb/cache"
)

// slack is for the rounding of sums.
const slack = 1e-9

// optimum finds the fewest faults by trying every set of residents at every
// reference. It admits what it loads, as a cache does.
func optimum(t *Trace, budget int64) int {
	sizes, _ := t.Sizes()
	weight := make([]int64, 1<<t.Items)
	for set := range weight {
		for i, size := range sizes {
			if set>>i&1 == 1 {
				weight[set] += size
			}
		}
	}
	best := map[int]int{0: 0} // faults by residents
	for _, r := range t.Refs {
		next := make(map[int]int)
		for set, faults := range best {
			full := set
			if set>>r.Item&1 == 0 {
				faults++
				full |= 1 << r.Item
			}
			if r.Size > budget {
				full &^= 1 << r.Item
			}
			for sub := full; ; sub = (sub - 1) & full {
				if weight[sub] <= budget && (r.Size > budget || sub>>r.Item&1 == 1) {
					if was, ok := next[sub]; !ok || faults < was {
						next[sub] = faults
					}
				}
				if sub == 0 {
					break
				}
			}
		}
		best = next
	}
	fewest := len(t.Refs)
	for _, faults := range best {
		fewest = min(fewest, faults)
	}
	return fewest
}

// On tiny plain traces: bound <= optimum <= Belady and every policy, and Belady is
// the optimum where all sizes are equal.
func TestBoundsAgainstOptimum(t *testing.T) {
	tight, single := 0.0, 0.0
	seeds(t, 300, func(t *testing.T, rng *rand.Rand) {
		largest := int64(1)
		if rng.IntN(3) > 0 {
			largest = 6
		}
		tr := randomPlain(rng, 2+rng.IntN(5), 1+rng.IntN(24), largest)
		budget := 1 + rng.Int64N(3*largest)
		best := float64(optimum(tr, budget))
		o := Options{Budget: budget}
		b := lowerBound(t, tr, o)
		if b.Faults > best+slack || b.PFOOL > b.Faults+slack {
			t.Errorf("budget %d: PFOO-L %g, bound %g, optimum %g of %d", budget, b.PFOOL, b.Faults, best, len(tr.Refs))
		}
		tight += b.Faults / best / 300
		single += b.PFOOL / best / 300
		oracle := belady(t, tr, o)
		if float64(oracle.Faults) < best || largest == 1 && float64(oracle.Faults) > best {
			t.Errorf("budget %d, sizes up to %d: Belady %d, optimum %g", budget, largest, oracle.Faults, best)
		}
		if b.FaultSize > float64(oracle.FaultSize)*(1+slack) {
			t.Errorf("budget %d: bound of sizes %g, Belady %d", budget, b.FaultSize, oracle.FaultSize)
		}
		for _, o.Policy = range cache.Policies() {
			if run := simulate(t, tr, o); float64(run.Faults) < best {
				t.Errorf("budget %d: %s has %d faults, optimum %g", budget, o.Policy, run.Faults, best)
			}
		}
	})
	t.Logf("the bound is at %.4f of the optimum, mean; with one price at %.4f", tight, single)
	if tight < 0.95 {
		t.Errorf("the bound is at %.4f of the optimum, mean: the prices do not rise", tight)
	}
}

// Session traces with tail and parts: nothing that runs has less than the bound.
func TestBoundOfSessions(t *testing.T) {
	seeds(t, 150, func(t *testing.T, rng *rand.Rand) {
		tr := randomSession(rng, 40, 40, rng.IntN(2) == 0)
		o := Options{Budget: 1 + rng.Int64N(400), PageSize: rng.Int64N(2) * (1 + rng.Int64N(20))}
		if rng.IntN(5) == 0 {
			o.Recent = -1
		}
		b := lowerBound(t, tr, o)
		runs := []Run{belady(t, tr, o)}
		for _, policy := range cache.Policies() {
			for _, mark := range []float64{1, 0.6} {
				p := o
				p.Policy, p.LowWatermark, p.KeepSuperseded = policy, mark, rng.IntN(2) == 0
				runs = append(runs, simulate(t, tr, p))
			}
		}
		for _, run := range runs {
			if float64(run.Faults) < b.Faults-slack || float64(run.FaultSize) < b.FaultSize*(1-slack) {
				t.Errorf("%+v: %d faults of size %d, bound %g and %g", run.Options, run.Faults, run.FaultSize, b.Faults, b.FaultSize)
			}
			if run.Peak > o.Budget {
				t.Errorf("%+v: peak %d", run.Options, run.Peak)
			}
		}
	})
}

// Any prices give a bound, not only good ones.
func TestAnyPricesBound(t *testing.T) {
	seeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		tr := randomPlain(rng, 2+rng.IntN(4), 1+rng.IntN(20), 5)
		o := Options{Budget: 1 + rng.Int64N(12)}
		best := float64(optimum(tr, o.Budget))
		p := newPacking(tr, o)
		for range 20 {
			for i := range p.prices {
				p.prices[i] = rng.ExpFloat64() * float64(rng.IntN(2)) / 5
			}
			if value := p.value(); value > best+slack {
				t.Errorf("budget %d: %g at some prices, optimum %g", o.Budget, value, best)
			}
		}
	})
}

// The best constant price is the best of all constant prices.
func TestConstantPrice(t *testing.T) {
	seeds(t, 100, func(t *testing.T, rng *rand.Rand) {
		tr := randomPlain(rng, 2+rng.IntN(6), 1+rng.IntN(40), 9)
		p := newPacking(tr, Options{Budget: 1 + rng.Int64N(30)})
		if len(p.intervals) == 0 {
			return
		}
		best := p.constant()
		for i := range 200 {
			for at := range p.prices {
				p.prices[at] = float64(i) / 100
			}
			if value := p.value(); value > best+slack {
				t.Errorf("%g at a price of %g, %g at the best", value, float64(i)/100, best)
			}
		}
	})
}
