package replay

import (
	"context"
	"iter"
	"math"

	"ctxdb/cache"
)

// Grid is a set of runs: every combination of what it lists. An empty list means
// the one value of Base.
type Grid struct {
	Base       Options
	Budgets    []int64
	Shares     []float64 // further budgets, as shares of the size of all items together
	Policies   []cache.Policy
	PageSizes  []int64
	Watermarks []float64
}

// budgets turns shares into budgets, in the order of the two lists.
func (g *Grid) budgets(t *Trace) []int64 {
	all := append([]int64(nil), g.Budgets...)
	_, total := t.Sizes()
	for _, share := range g.Shares {
		all = append(all, int64(math.Round(share*float64(total))))
	}
	return all
}

// Sweep simulates every combination, budgets outermost, then policies, page sizes
// and watermarks. An error is the last thing it yields.
func Sweep(ctx context.Context, t *Trace, g Grid) iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		for _, budget := range orBase(g.budgets(t), g.Base.Budget) {
			for _, policy := range orBase(g.Policies, g.Base.Policy) {
				for _, size := range orBase(g.PageSizes, g.Base.PageSize) {
					for _, mark := range orBase(g.Watermarks, g.Base.LowWatermark) {
						o := g.Base
						o.Budget, o.Policy, o.PageSize, o.LowWatermark = budget, policy, size, mark
						run, err := Simulate(ctx, t, o)
						if !yield(run, err) || err != nil {
							return
						}
					}
				}
			}
		}
	}
}

func orBase[T any](list []T, base T) []T {
	if len(list) == 0 {
		return []T{base}
	}
	return list
}
