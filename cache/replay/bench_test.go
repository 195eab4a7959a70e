package replay

import (
	"context"
	"fmt"
	"testing"

	"ctxdb/cache"
)

// A million references of the model over 50,000 items.
func million(b *testing.B) (*Trace, Options) {
	m := PublishedModel(1)
	m.Items, m.References, m.WorkingSet, m.TotalTokens = 50000, 1e6, 2000, 50e6
	tr, err := m.Trace()
	if err != nil {
		b.Fatal(err)
	}
	return tr, Options{Budget: 2e6, Policy: cache.LRU}
}

func BenchmarkSimulate(b *testing.B) {
	tr, o := million(b)
	for _, policy := range cache.Policies() {
		for _, o.Budget = range []int64{2e6, 10e6} {
			for _, o.PageSize = range []int64{0, 256} {
				o.Policy = policy
				b.Run(fmt.Sprintf("policy=%s/budget=%d/page=%d", o.Policy, o.Budget, o.PageSize), func(b *testing.B) {
					for b.Loop() {
						run, err := Simulate(context.Background(), tr, o)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric(float64(run.Faults), "faults")
					}
				})
			}
		}
	}
}

func BenchmarkBelady(b *testing.B) {
	tr, o := million(b)
	for b.Loop() {
		run, err := Belady(context.Background(), tr, o)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(run.Faults), "faults")
	}
}

func BenchmarkLowerBound(b *testing.B) {
	tr, o := million(b)
	for b.Loop() {
		bound, err := LowerBound(context.Background(), tr, o)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(bound.Faults, "faults")
		b.ReportMetric(bound.PFOOL, "faults-pfool")
	}
}
