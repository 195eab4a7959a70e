package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ctxdb/cache"
)

// A plain trace gives what a cache gives that is driven by hand.
func TestSimulateIsTheCache(t *testing.T) {
	ctx := context.Background()
	seeds(t, 40, func(t *testing.T, rng *rand.Rand) {
		tr := randomPlain(rng, 30, 400, 50)
		for _, policy := range cache.Policies() {
			for _, mark := range []float64{0, 0.5} {
				budget := 60 + rng.Int64N(300)
				c, err := cache.New(cache.Options[Item, int]{BudgetTokens: budget, Policy: policy, LowWatermark: mark})
				if err != nil {
					t.Fatal(err)
				}
				var missed int64
				for _, r := range tr.Refs {
					_, hit, err := c.Load(ctx, r.Item, cache.Cost{Tokens: r.Size}, func() (int, error) { return 0, nil })
					if err != nil {
						t.Fatal(err)
					}
					if !hit {
						missed += r.Size
					}
				}
				want := c.Stats()
				got := simulate(t, tr, Options{Budget: budget, Policy: policy, LowWatermark: mark})
				if got.Faults != want.Faults || got.FaultSize != missed || got.Evictions != want.Evictions ||
					got.Batches != want.Batches || got.Peak != want.Peak.Tokens || got.Recalls != want.Refs {
					t.Errorf("%s, budget %d, watermark %g: %+v, by hand %+v", policy, budget, mark, got, want)
				}
			}
		}
	})
}

// session builds a trace by hand; the tail is filled in.
func session(refs ...Ref) *Trace {
	t := &Trace{Name: "by hand"}
	var made []Ref
	for at := 0; at < len(refs); {
		step := refs[at].Step
		for _, r := range made {
			if r.Step < step && r.Step >= step-DefaultRecent {
				r.Step, r.Kind = step, Tail
				t.Refs = append(t.Refs, r)
			}
		}
		for ; at < len(refs) && refs[at].Step == step; at++ {
			r := refs[at]
			if r.Kind == New {
				made = append(made, r)
				t.Items = max(t.Items, int(r.Item)+1)
			}
			t.Refs = append(t.Refs, r)
		}
	}
	return t
}

func TestSupersededLeaveFirst(t *testing.T) {
	tr := session(
		Ref{Step: 1, Item: 0, Size: 40, Kind: New},
		Ref{Step: 2, Item: 1, Size: 40, Kind: New},
		Ref{Step: 8, Item: 1, Size: 40, Kind: DeadReread},
		Ref{Step: 9, Item: 2, Size: 40, Kind: New}, // no room for three
		Ref{Step: 20, Item: 0, Size: 40, Kind: Quote},
		Ref{Step: 21, Item: 1, Size: 40, Kind: Quote},
	)
	for _, tc := range []struct {
		keep   bool
		faults int64
	}{
		{false, 1}, // item 1 left, so it faults; then it is the last
		{true, 2},  // item 0 left, faults and drives item 1 out, which faults too
	} {
		run := simulate(t, tr, Options{Budget: 100, Policy: cache.LRU, KeepSuperseded: tc.keep})
		if run.Faults != tc.faults || run.Recalls != 2 {
			t.Errorf("superseded kept %v: %d faults of %d recalls, want %d of 2", tc.keep, run.Faults, run.Recalls, tc.faults)
		}
	}
	edited := slices.Clone(tr.Refs)
	for i := range edited {
		if edited[i].Kind == DeadReread {
			edited[i].Kind = DeadEdit
		}
	}
	tr.Refs = edited
	if run := simulate(t, tr, Options{Budget: 100, Policy: cache.LRU}); run.Faults != 2 {
		t.Errorf("an edited copy left first: %d faults", run.Faults)
	}
	if run := simulate(t, tr, Options{Budget: 100, Policy: cache.LRU, DoomEdited: true}); run.Faults != 1 {
		t.Errorf("an edited copy did not leave first: %d faults", run.Faults)
	}
}

// The recent tail stays as long as anything else can leave, and is brought back
// uncounted.
func TestTailIsGuarded(t *testing.T) {
	tr := session(
		Ref{Step: 1, Item: 0, Size: 30, Kind: New},
		Ref{Step: 8, Item: 1, Size: 30, Kind: New},
		Ref{Step: 8, Item: 2, Size: 40, Kind: New},
		Ref{Step: 9, Item: 0, Size: 30, Kind: Quote},  // resident
		Ref{Step: 10, Item: 3, Size: 30, Kind: New},   // 0 leaves although it was used last
		Ref{Step: 11, Item: 0, Size: 30, Kind: Quote}, // fault: something of the tail leaves
		Ref{Step: 12, Item: 4, Size: 1, Kind: New},    // and is brought back
	)
	run := simulate(t, tr, Options{Budget: 100, Policy: cache.LRU})
	if run.Faults != 1 || run.TailLoads != 1 {
		t.Errorf("%d faults, %d loads of the tail, want 1 and 1", run.Faults, run.TailLoads)
	}
	if run = simulate(t, tr, Options{Budget: 100, Policy: cache.LRU, Recent: -1}); run.TailLoads != 0 {
		t.Errorf("%d loads of the tail without a tail", run.TailLoads)
	}
}

func TestPages(t *testing.T) {
	g := paging{10}
	for _, tc := range []struct {
		ref        Ref
		first, end uint32
	}{
		{Ref{Size: 10, Kind: Reread}, 0, 1},
		{Ref{Size: 11, Kind: Reread}, 0, 2},
		{Ref{Size: 35, Kind: Reread, From: 0, To: 10}, 0, 1},
		{Ref{Size: 35, Kind: Quote, From: 9, To: 11}, 0, 2},
		{Ref{Size: 35, Kind: Edit, From: 30, To: 35}, 3, 4},
		{Ref{Size: 0, Kind: Plain}, 0, 1},
	} {
		if first, end := g.needed(&tc.ref); first != tc.first || end != tc.end {
			t.Errorf("%+v: parts %d to %d, want %d to %d", tc.ref, first, end, tc.first, tc.end)
		}
	}
	var total int64
	for part := range g.parts(35) {
		total += g.cost(35, part)
	}
	if total != 35 || g.cost(35, 3) != 5 {
		t.Errorf("parts of 35 are %d together, the last %d", total, g.cost(35, 3))
	}
	unknown := map[uint32]bool{}
	for step := range Step(100) {
		first, end := g.needed(&Ref{Step: step, Size: 35, Kind: Quote})
		if end != first+1 {
			t.Fatalf("a quote needs parts %d to %d", first, end)
		}
		unknown[first] = true
	}
	if len(unknown) != 4 {
		t.Errorf("unknown quotes go to parts %v of 4", unknown)
	}
}

// Only a part of an item larger than the budget can be resident, and only by
// pages.
func TestLargerThanBudget(t *testing.T) {
	tr := session(
		Ref{Step: 1, Item: 0, Size: 100, Kind: New},
		Ref{Step: 9, Item: 0, Size: 100, Kind: Quote, From: 0, To: 5},
		Ref{Step: 10, Item: 0, Size: 100, Kind: Quote, From: 0, To: 5},
	)
	if run := simulate(t, tr, Options{Budget: 50}); run.Faults != 2 || run.Refused != 3 || run.Peak != 0 {
		t.Errorf("whole turns: %+v", run)
	}
	if run := simulate(t, tr, Options{Budget: 50, PageSize: 10}); run.Faults != 1 || run.FaultSize != 10 {
		t.Errorf("pages: %+v", run)
	}
}

func TestDeterminism(t *testing.T) {
	tr := randomSession(rand.New(rand.NewPCG(7, 7)), 300, 60, true)
	o := WindowOptions(700)
	o.PageSize = 25
	for _, o.Policy = range cache.Policies() {
		if a, b := simulate(t, tr, o), simulate(t, tr, o); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v and %+v", o.Policy, a, b)
		}
	}
	if a, b := belady(t, tr, o), belady(t, tr, o); !reflect.DeepEqual(a, b) {
		t.Errorf("Belady: %+v and %+v", a, b)
	}
	if a, b := lowerBound(t, tr, o), lowerBound(t, tr, o); !reflect.DeepEqual(a, b) {
		t.Errorf("bound: %+v and %+v", a, b)
	}
}

func TestBadOptions(t *testing.T) {
	tr := randomPlain(rand.New(rand.NewPCG(1, 1)), 3, 5, 3)
	for _, o := range []Options{
		{}, {Budget: -1}, {Budget: 1, Policy: "random"}, {Budget: 1, PageSize: -1},
		{Budget: 1, LowWatermark: 1.5}, {Budget: 1, Prices: Prices{Read: -1}},
	} {
		if _, err := Simulate(context.Background(), tr, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
		if _, err := LowerBound(context.Background(), tr, o); !errors.Is(err, ErrOptions) {
			t.Errorf("bound, %+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	long := randomPlain(rand.New(rand.NewPCG(1, 1)), 3, 5000, 3)
	if _, err := Simulate(ctx, long, Options{Budget: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
}
