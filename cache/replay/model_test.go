package replay

import (
	"math"
	"slices"
	"testing"

	"ctxdb/cache"
)

func TestModelIsTheSameEverywhere(t *testing.T) {
	m := PublishedModel(1)
	refs, err := m.Draw()
	if err != nil {
		t.Fatal(err)
	}
	if got := hashItems(refs); got != 0xf7bcb2441d84f269 {
		t.Errorf("references of seed 1 hash to %#x", got)
	}
	sizes, err := m.DrawSizes()
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, s := range sizes {
		total += s
	}
	if total != m.TotalTokens || slices.Min(sizes) < 1 {
		t.Errorf("%d tokens, the smallest item %d", total, slices.Min(sizes))
	}
}

func hashItems(refs []Item) uint64 {
	h := uint64(0)
	for _, r := range refs {
		h = mix(h ^ uint64(r))
	}
	return h
}

// Parameters do what they say, within five standard deviations.
func TestModelParameters(t *testing.T) {
	m := Model{Items: 1000, References: 200000, WorkingSet: 5, Replace: 0.02, Uniform: 0.1, TotalTokens: 1e6, Sigma: 0.8, Seed: 3}
	refs, err := m.Draw()
	if err != nil {
		t.Fatal(err)
	}
	// A reference repeats the one before with chance 0.9^2 / 5, and a little.
	same := 0
	for i := 1; i < len(refs); i++ {
		if refs[i] == refs[i-1] {
			same++
		}
	}
	want := 0.9*0.9/5*(1-0.02/5) + 0.1*0.1/1000 + 2*0.9*0.1/1000
	if got := float64(same) / float64(len(refs)); math.Abs(got-want) > 5*math.Sqrt(want/float64(len(refs))) {
		t.Errorf("%g of references repeat the one before, want %g", got, want)
	}
	sizes, err := m.DrawSizes()
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares float64
	for _, s := range sizes {
		l := math.Log(float64(s))
		sum += l / 1000
		squares += l * l / 1000
	}
	if sigma := math.Sqrt(squares - sum*sum); math.Abs(sigma-0.8) > 5*0.8/math.Sqrt(2000) {
		t.Errorf("the logarithms of sizes deviate by %g, want 0.8", sigma)
	}
}

func TestModelRefuses(t *testing.T) {
	for _, change := range []func(*Model){
		func(m *Model) { m.WorkingSet = 0 }, func(m *Model) { m.WorkingSet = 61 },
		func(m *Model) { m.Replace = -0.1 }, func(m *Model) { m.Uniform = 1.1 },
		func(m *Model) { m.References = -1 }, func(m *Model) { m.TotalTokens = 59 },
		func(m *Model) { m.Sigma = math.NaN() },
	} {
		m := PublishedModel(1)
		change(&m)
		if _, err := m.Trace(); err == nil {
			t.Errorf("%+v was accepted", m)
		}
	}
}

// The published run: 60,728 tokens in a window of 8,000, LRU at 15 % faults, no
// more tokens than the budget; idle-size is below, and the bound at about 10 %.
func TestPublishedDemo(t *testing.T) {
	const n = 40
	var lru, idle, oracle, bound float64
	for seed := range uint64(n) {
		tr, err := PublishedModel(seed + 1).Trace()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Budget: 8000, Policy: cache.LRU}
		run := simulate(t, tr, o)
		b := lowerBound(t, tr, o)
		if run.Peak > o.Budget || run.Recalls != 1500 {
			t.Errorf("seed %d: %+v", seed+1, run)
		}
		if seed < 5 {
			t.Logf("seed %d: LRU %d faults (%.1f %%), peak %d, bound %.2f %%", seed+1, run.Faults, 100*run.FaultRate(), run.Peak, 100*b.FaultRate())
		}
		lru += run.FaultRate() / n
		o.Policy = cache.IdleSize
		run = simulate(t, tr, o)
		idle += run.FaultRate() / n
		run = belady(t, tr, o)
		oracle += run.FaultRate() / n
		bound += b.FaultRate() / n
	}
	t.Logf("mean of %d seeds: LRU %.2f %%, idle-size %.2f %%, Belady-size %.2f %%, bound %.2f %%", n, 100*lru, 100*idle, 100*oracle, 100*bound)
	if lru < 0.14 || lru > 0.18 || idle > 0.97*lru || bound < 0.09 || bound > 0.11 {
		t.Error("far from the published run")
	}
}
