package replay

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/cache"
)

func TestSweep(t *testing.T) {
	tr := randomSession(rand.New(rand.NewPCG(2, 2)), 60, 30, true)
	_, total := tr.Sizes()
	g := Grid{
		Base: Options{Policy: cache.LRU}, Budgets: []int64{100}, Shares: []float64{0.25, 1},
		PageSizes: []int64{0, 10}, Watermarks: []float64{1, 0.6},
	}
	var runs []Run
	for run, err := range Sweep(context.Background(), tr, g) {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	if len(runs) != 3*2*2 {
		t.Fatalf("%d runs", len(runs))
	}
	for i, want := range []Options{
		{Budget: 100, LowWatermark: 1}, {Budget: 100, LowWatermark: 0.6},
		{Budget: 100, PageSize: 10, LowWatermark: 1}, {Budget: 100, PageSize: 10, LowWatermark: 0.6},
		{Budget: (total + 2) / 4, LowWatermark: 1},
	} {
		want.Policy = cache.LRU
		o := runs[i].Options
		if o.Policy != want.Policy || o.PageSize != want.PageSize || o.LowWatermark != want.LowWatermark || i < 4 && o.Budget != 100 {
			t.Errorf("run %d is %+v, want %+v", i, o, want)
		}
	}
	// All fits: nothing leaves, and it costs what keeping everything costs.
	for _, run := range runs[8:] {
		if run.Options.LowWatermark == 1 && (run.Faults != 0 || run.Evictions != 0 || run.Money.OfKeepAll() != 1) {
			t.Errorf("all fits: %+v", run)
		}
	}
	for _, err := range Sweep(context.Background(), tr, Grid{}) {
		if err == nil {
			t.Error("no budget was accepted")
		}
	}
}

func TestCurve(t *testing.T) {
	tr := randomSession(rand.New(rand.NewPCG(3, 3)), 60, 30, true)
	budgets := Budgets(tr, 6)
	sizes, total := tr.Sizes()
	if !slices.IsSorted(budgets) || budgets[0] < slices.Max(sizes) || budgets[len(budgets)-1] < total {
		t.Fatalf("budgets %v for items up to %d, %d together", budgets, slices.Max(sizes), total)
	}
	c, err := NewCurve(context.Background(), tr, Options{}, budgets, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rows) != len(cache.Policies())+2 {
		t.Fatalf("%d rows", len(c.Rows))
	}
	bound := c.Rows[len(c.Rows)-1]
	if bound.Name != RowBound || c.Rows[len(c.Rows)-2].Name != RowBelady {
		t.Errorf("the last rows are %s and %s", c.Rows[len(c.Rows)-2].Name, bound.Name)
	}
	for _, row := range c.Rows {
		for i, p := range row.Points {
			if p.Budget != budgets[i] || p.ObjectMissRatio < bound.Points[i].ObjectMissRatio-slack || p.ByteMissRatio < bound.Points[i].ByteMissRatio-slack {
				t.Errorf("%s at %d: %+v, bound %+v", row.Name, budgets[i], p, bound.Points[i])
			}
		}
		if last := row.Points[len(row.Points)-1]; last.Faults != 0 {
			t.Errorf("%s: %g faults when all fits", row.Name, last.Faults)
		}
	}
}
