package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Eight goroutines do everything at once, while another samples the budgets.
func TestConcurrentOperations(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(string(policy), func(t *testing.T) {
			budget := Cost{Tokens: 300, Bytes: 5000}
			var evicted atomic.Int64
			c, err := New(Options[int, int]{Policy: policy, BudgetTokens: budget.Tokens, BudgetBytes: budget.Bytes, LowWatermark: 0.8,
				OnEvict: func(_, _ int, _ Cost, why Reason) {
					if why == Evicted {
						evicted.Add(1)
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			sampled := make(chan error)
			go func() { sampled <- sample(c, budget, stop) }()
			var w sync.WaitGroup
			for g := range 8 {
				w.Go(func() { mixed(t, c, rand.New(rand.NewPCG(uint64(g), 11))) })
			}
			w.Wait()
			close(stop)
			if err := <-sampled; err != nil {
				t.Error(err)
			}
			st := c.Stats()
			if st.Reserved != (Cost{}) || st.Waiting != 0 || st.Pinned != (Cost{}) || st.Evictions != evicted.Load() || st.Evictions == 0 {
				t.Errorf("%+v, %d evictions told of", st, evicted.Load())
			}
			if st.Loads+st.Failures+st.Shared != st.Faults || !st.Peak.within(budget) {
				t.Errorf("%+v", st)
			}
			if err := c.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func sample(c *Cache[int, int], budget Cost, stop chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		c.mu.Lock()
		err := c.check()
		c.mu.Unlock()
		if err != nil {
			return err
		}
		if st := c.Stats(); !st.Charged.within(budget) {
			return fmt.Errorf("charged %v", st.Charged)
		}
		runtime.Gosched()
	}
}

var errBroken = errors.New("broken") // shared by all who wait for a load

func mixed(t *testing.T, c *Cache[int, int], rng *rand.Rand) {
	for range 3000 {
		key := rng.IntN(60)
		cost := costOf(key)
		fails := rng.IntN(20) == 0
		load := func() (int, error) {
			runtime.Gosched()
			if fails {
				return 0, errBroken
			}
			return 10 * key, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		switch rng.IntN(12) {
		case 0:
			if v, _, err := c.LoadPinned(ctx, key, cost, load); err == nil {
				if v != 10*key || c.Release(key) != ErrPinned || !c.Unpin(key) {
					t.Errorf("key %d lost its pin", key)
				}
			}
		case 1:
			_ = c.Release(key)
		case 2:
			c.SetClass(key, Class(rng.IntN(classes)))
		case 3:
			go cancel()
			fallthrough
		default:
			v, _, err := c.Load(ctx, key, cost, load)
			known := err == errBroken || errors.Is(err, context.Canceled) || errors.Is(err, ErrOverBudget)
			if err == nil && v != 10*key || err != nil && !known {
				t.Errorf("key %d: %d, %v", key, v, err)
			}
		case 4, 5, 6:
			if v, ok := c.Get(key); ok && v != 10*key {
				t.Errorf("key %d: %d", key, v)
			}
		}
		cancel()
	}
}

func TestFaultsOfOneKeyLoadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
		var loads, hits atomic.Int64
		open := make(chan struct{})
		var w sync.WaitGroup
		for range 8 {
			w.Go(func() {
				v, hit, err := c.Load(t.Context(), "a", Cost{Tokens: 10}, func() (int, error) {
					loads.Add(1)
					<-open
					return 7, nil
				})
				if v != 7 || err != nil {
					t.Error(v, err)
				}
				if hit {
					hits.Add(1)
				}
			})
		}
		synctest.Wait()
		if st := c.Stats(); st.Reserved.Tokens != 10 || st.Faults != 8 || st.Shared != 7 || st.Refs != 8 {
			t.Errorf("%+v", st)
		}
		close(open)
		w.Wait()
		if loads.Load() != 1 || hits.Load() != 0 {
			t.Error(loads.Load(), hits.Load())
		}
	})
}

// blocked starts a load that holds its reservation until the result is sent.
func blocked(t *testing.T, c *Cache[string, int], key string, tokens int64) (finish func(error)) {
	result := make(chan error)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, err := c.Load(context.Background(), key, Cost{Tokens: tokens}, func() (int, error) { return 1, <-result })
		t.Logf("load of %s: %v", key, err)
	}()
	synctest.Wait()
	return func(err error) { result <- err; <-done }
}

func TestWaitsForRoomInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
		finish := blocked(t, c, "a", 6)
		var order []string
		var w sync.WaitGroup
		for _, key := range []string{"b", "c"} { // c would fit at once, but b came first
			w.Go(func() {
				tokens := map[string]int64{"b": 8, "c": 4}[key]
				if _, _, err := c.Load(t.Context(), key, Cost{Tokens: tokens}, func() (int, error) { order = append(order, key); return 1, nil }); err != nil {
					t.Error(key, err)
				}
			})
			synctest.Wait()
		}
		impatient, cancel := context.WithCancel(t.Context())
		w.Go(func() {
			if _, _, err := c.Load(impatient, "d", Cost{Tokens: 10}, nil); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		if st := c.Stats(); st.Waiting != 3 || st.Faults != 1 {
			t.Errorf("%+v", st)
		}
		cancel()
		synctest.Wait()
		finish(nil)
		w.Wait()
		if got := fmt.Sprint(order, c.Keys()); got != "[b c] [c]" {
			t.Error(got)
		}
	})
}

func TestPinWhileOthersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
		put(t, c, "p", 3)
		finish := blocked(t, c, "a", 6)
		failed := make(chan error, 1)
		go func() { _, _, err := c.Load(context.Background(), "b", Cost{Tokens: 8}, nil); failed <- err }()
		synctest.Wait()
		if err := c.Pin("p"); err != nil {
			t.Fatal(err)
		}
		finish(errBroken)
		if err := <-failed; !errors.Is(err, ErrOverBudget) {
			t.Error(err)
		}
	})
}

func TestAnotherTakesOverAnAbandonedFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
		finish := blocked(t, c, "a", 6)
		first, cancel := context.WithCancel(t.Context())
		got := make(chan string, 2)
		try := func(name string, ctx context.Context) {
			_, _, err := c.Load(ctx, "b", Cost{Tokens: 8}, func() (int, error) { got <- name + " loads"; return 2, nil })
			if err != nil {
				got <- name + " " + err.Error()
			}
		}
		go try("first", first)
		synctest.Wait()
		go try("second", t.Context())
		synctest.Wait()
		cancel()
		if s := <-got; s != "first context canceled" {
			t.Error(s)
		}
		finish(nil)
		if s := <-got; s != "second loads" {
			t.Error(s)
		}
	})
}

func TestDropWhileLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
		finish := blocked(t, c, "a", 6)
		shared := make(chan error, 1)
		go func() { _, _, err := c.LoadPinned(context.Background(), "a", Cost{Tokens: 6}, nil); shared <- err }()
		synctest.Wait()
		if !c.Drop("a") || c.Drop("z") {
			t.Error("drop")
		}
		finish(nil)
		if err := <-shared; err != ErrDropped {
			t.Error(err)
		}
		if st := c.Stats(); st.Charged != (Cost{}) || st.Pinned != (Cost{}) || c.Len() != 0 {
			t.Errorf("%+v", st)
		}
	})
}
