package replay

import (
	"context"
	"math"
	"slices"

	"ctxdb/cache"
)

// Names of the rows of a Curve that are no policies.
const (
	RowBelady = "belady-size"
	RowBound  = "lower bound"
)

// Curve is the data of miss-ratio curves: a row of points for each policy and for
// the two offline bounds, a point for each budget.
type Curve struct {
	Trace   string
	Total   int64   // size of all items together
	Recalls int64   // references that could fault
	Budgets []int64 // rising
	Rows    []CurveRow
}

// CurveRow is one curve.
type CurveRow struct {
	Name   string
	Points []Point // one for each budget
}

// Point is one run, or one bound.
type Point struct {
	Budget          int64
	Faults          float64 // fractional for the bound
	FaultSize       float64
	ObjectMissRatio float64
	ByteMissRatio   float64 // 0 for the bound of a trace without recalls
	OfKeepAll       float64 // money; 0 for the bound
}

// Budgets proposes n budgets, or fewer, from the largest item to everything, each
// a fixed multiple of the one before.
func Budgets(t *Trace, n int) []int64 {
	sizes, total := t.Sizes()
	first := float64(max(1, slices.Max(append(sizes, 1))))
	last := math.Max(first, float64(total))
	var all []int64
	for i := range n {
		at := 1.0
		if n > 1 {
			at = float64(i) / float64(n-1)
		}
		all = append(all, int64(math.Ceil(first*math.Pow(last/first, at))))
	}
	return slices.Compact(all)
}

// NewCurve runs each policy of the list, Belady and LowerBound at each budget,
// everything else being as base says. No policies: all there are.
func NewCurve(ctx context.Context, t *Trace, base Options, budgets []int64, policies []cache.Policy) (*Curve, error) {
	if len(policies) == 0 {
		policies = cache.Policies()
	}
	_, total := t.Sizes()
	c := &Curve{Trace: t.Name, Total: total, Budgets: slices.Sorted(slices.Values(budgets))}
	for _, policy := range policies {
		o := base
		o.Policy = policy
		err := c.row(string(policy), func(budget int64) (Point, error) {
			o.Budget = budget
			run, err := Simulate(ctx, t, o)
			c.Recalls = run.Recalls
			return run.point(), err
		})
		if err != nil {
			return nil, err
		}
	}
	err := c.row(RowBelady, func(budget int64) (Point, error) {
		base.Budget = budget
		run, err := Belady(ctx, t, base)
		return run.point(), err
	})
	if err != nil {
		return nil, err
	}
	err = c.row(RowBound, func(budget int64) (Point, error) {
		base.Budget = budget
		b, err := LowerBound(ctx, t, base)
		return Point{
			Budget: budget, Faults: b.Faults, FaultSize: b.FaultSize,
			ObjectMissRatio: b.FaultRate(), ByteMissRatio: b.ByteMissRatio(),
		}, err
	})
	return c, err
}

func (c *Curve) row(name string, at func(budget int64) (Point, error)) error {
	row := CurveRow{Name: name}
	for _, budget := range c.Budgets {
		p, err := at(budget)
		if err != nil {
			return err
		}
		row.Points = append(row.Points, p)
	}
	c.Rows = append(c.Rows, row)
	return nil
}

func (r *Run) point() Point {
	return Point{
		Budget: r.Options.Budget, Faults: float64(r.Faults), FaultSize: float64(r.FaultSize),
		ObjectMissRatio: r.ObjectMissRatio(), ByteMissRatio: r.ByteMissRatio(), OfKeepAll: r.Money.OfKeepAll(),
	}
}
