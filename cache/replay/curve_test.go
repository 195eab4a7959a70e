package replay

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/cache"
)

// Where all fits nothing leaves, and it costs what keeping everything costs.
func TestAllFits(t *testing.T) {
	tr := randomSession(rand.New(rand.NewPCG(2, 2)), 60, 30, true)
	_, total := tr.Sizes()
	for _, policy := range cache.Policies() {
		for _, size := range []int64{0, 10} {
			run, err := Simulate(context.Background(), tr, Options{Budget: total, Policy: policy, PageSize: size, LowWatermark: 1})
			if err != nil || run.Faults != 0 || run.Evictions != 0 || run.Money.OfKeepAll() != 1 {
				t.Errorf("%s, pages of %d: %+v, %v", policy, size, run, err)
			}
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
