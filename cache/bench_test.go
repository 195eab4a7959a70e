package cache

import (
	"context"
	"math/rand/v2"
	"testing"
)

func benchCache(b *testing.B, policy Policy, items int) (*Cache[uint64, int], []uint64) {
	c, err := New(Options[uint64, int]{Policy: policy, BudgetTokens: int64(items) * 1000})
	if err != nil {
		b.Fatal(err)
	}
	for k := range uint64(items) {
		if _, _, err := c.Load(b.Context(), k, Cost{Tokens: 1000}, func() (int, error) { return 1, nil }); err != nil {
			b.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	keys := make([]uint64, 1<<12)
	for i := range keys {
		keys[i] = rng.Uint64N(uint64(items))
	}
	return c, keys
}

func BenchmarkHit(b *testing.B) {
	for _, policy := range Policies() {
		b.Run("policy="+string(policy), func(b *testing.B) {
			c, keys := benchCache(b, policy, 4096)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, ok := c.Get(keys[i&(len(keys)-1)]); !ok {
					b.Fatal("not resident")
				}
				i++
			}
		})
	}
}

// BenchmarkHitParallel has 8 goroutines at GOMAXPROCS=2 with -cpu 2.
func BenchmarkHitParallel(b *testing.B) {
	for _, policy := range Policies() {
		b.Run("policy="+string(policy), func(b *testing.B) {
			c, keys := benchCache(b, policy, 4096)
			b.SetParallelism(4)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if _, ok := c.Get(keys[i&(len(keys)-1)]); !ok {
						b.Error("not resident")
						return
					}
				}
			})
		})
	}
}

// BenchmarkReference replays references with locality over about 10,000
// residents; one in three or so faults and evicts one other.
func BenchmarkReference(b *testing.B) {
	for _, policy := range Policies() {
		b.Run("policy="+string(policy), func(b *testing.B) {
			c, err := New(Options[uint64, struct{}]{Policy: policy, BudgetTokens: 10_000 * 1000})
			if err != nil {
				b.Fatal(err)
			}
			zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.05, 100, 200_000)
			load := func() (struct{}, error) { return struct{}{}, nil }
			ctx := context.Background()
			for b.Loop() {
				key := zipf.Uint64()
				if _, _, err := c.Load(ctx, key, Cost{Tokens: int64(key*7919%1999) + 1}, load); err != nil {
					b.Fatal(err)
				}
			}
			st := c.Stats()
			b.ReportMetric(100*float64(st.Faults)/float64(st.Refs), "%faults")
			b.ReportMetric(float64(st.Items), "residents")
		})
	}
}

func TestHitDoesNotAllocate(t *testing.T) {
	for _, policy := range Policies() {
		c, err := New(Options[uint64, []byte]{Policy: policy, BudgetBytes: 100})
		if err != nil {
			t.Fatal(err)
		}
		load := func() ([]byte, error) { return make([]byte, 50), nil }
		for k := range uint64(2) {
			if _, _, err := c.Load(t.Context(), k, Cost{Bytes: 50}, load); err != nil {
				t.Fatal(err)
			}
		}
		ctx := t.Context()
		allocs := testing.AllocsPerRun(100, func() {
			c.Get(0)
			c.Get(1)
			_, _, _ = c.Load(ctx, 0, Cost{Bytes: 50}, load)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", policy, allocs)
		}
	}
}
