package cache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
)

func newTest(t testing.TB, opts Options[string, int]) *Cache[string, int] {
	t.Helper()
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t testing.TB, c *Cache[string, int], key string, tokens int64) {
	t.Helper()
	if _, _, err := c.Load(t.Context(), key, Cost{Tokens: tokens}, func() (int, error) { return len(key), nil }); err != nil {
		t.Fatal(err)
	}
}

func TestOverBudgetChangesNothing(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(string(policy), func(t *testing.T) {
			c := newTest(t, Options[string, int]{Policy: policy, BudgetTokens: 100, LowWatermark: 0.6,
				OnEvict: func(key string, _ int, _ Cost, _ Reason) { t.Errorf("%s left", key) }})
			for _, key := range []string{"a", "b", "c", "d"} {
				put(t, c, key, 20)
			}
			for _, key := range []string{"a", "c"} {
				if err := c.Pin(key); err != nil {
					t.Fatal(err)
				}
			}
			before, stats := c.Snapshot(), c.Stats()
			load := func() (int, error) { t.Error("loaded"); return 0, nil }
			for _, tokens := range []int64{61, 100, 101, math.MaxInt64} {
				if _, _, err := c.Load(t.Context(), "x", Cost{Tokens: tokens}, load); !errors.Is(err, ErrOverBudget) {
					t.Errorf("%d tokens: %v", tokens, err)
				}
				if _, _, err := c.LoadPinned(t.Context(), "x", Cost{Tokens: tokens}, load); !errors.Is(err, ErrOverBudget) {
					t.Errorf("%d tokens, pinned: %v", tokens, err)
				}
			}
			if _, _, err := c.Load(t.Context(), "x", Cost{Bytes: -1}, load); !errors.Is(err, ErrCost) {
				t.Error(err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := c.Load(ended, "x", Cost{Tokens: 60}, load); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if !reflect.DeepEqual(c.Snapshot(), before) || c.Stats() != stats {
				t.Errorf("before %+v %+v\nafter %+v %+v", before, stats, c.Snapshot(), c.Stats())
			}
		})
	}
}

func TestWhatFitsExactlyIsAdmitted(t *testing.T) {
	c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 100})
	for _, key := range []string{"a", "b", "c"} {
		put(t, c, key, 30)
	}
	if err := c.Pin("b"); err != nil {
		t.Fatal(err)
	}
	put(t, c, "big", 70)
	if got := fmt.Sprint(c.Keys()); got != "[b big]" {
		t.Error(got)
	}
}

func TestClassesAndLowWatermark(t *testing.T) {
	var left []string
	c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 100, LowWatermark: 0.5,
		OnEvict: func(key string, _ int, _ Cost, _ Reason) { left = append(left, key) }})
	for i := range 10 {
		put(t, c, fmt.Sprint(i), 10)
	}
	c.SetClass("9", Doomed)
	c.SetClass("8", Doomed)
	c.SetClass("0", Guarded)
	put(t, c, "x", 10) // down to 50 with itself: six leave
	if want := []string{"8", "9", "1", "2", "3", "4"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	left = nil
	for _, key := range []string{"5", "6", "7"} {
		c.SetClass(key, Guarded)
	}
	put(t, c, "y", 70) // 50 + 70: x leaves for the watermark, one guarded for the budget
	if want := []string{"x", "0"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if c.SetClass("x", Normal) {
		t.Error("a class was given to what left")
	}
}

func TestPinsAreCounted(t *testing.T) {
	c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
	if err := c.Pin("a"); err != ErrNotResident {
		t.Error(err)
	}
	if _, hit, err := c.LoadPinned(t.Context(), "a", Cost{Tokens: 10}, func() (int, error) { return 1, nil }); hit || err != nil {
		t.Fatal(hit, err)
	}
	if err := c.Pin("a"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, _, err := c.Load(t.Context(), "b", Cost{Tokens: 1}, nil); !errors.Is(err, ErrOverBudget) {
			t.Errorf("%d unpins: %v", i, err)
		}
		if err := c.Release("a"); err != ErrPinned {
			t.Error(err)
		}
		if !c.Unpin("a") {
			t.Error("no pin left")
		}
	}
	if c.Unpin("a") || c.Unpin("b") {
		t.Error("a pin too many")
	}
	put(t, c, "b", 1)
	if got := fmt.Sprint(c.Keys(), c.Stats().Pinned); got != "[b] {0 0}" {
		t.Error(got)
	}
}

func TestFailedLoadGivesBack(t *testing.T) {
	c := newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10})
	put(t, c, "a", 5)
	if _, _, err := c.Load(t.Context(), "b", Cost{Tokens: 5}, func() (int, error) { return 0, errBroken }); err != errBroken {
		t.Error(err)
	}
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic did not come through")
			}
		}()
		_, _, _ = c.Load(t.Context(), "b", Cost{Tokens: 5}, func() (int, error) { panic("boom") })
	}()
	st := c.Stats()
	if st.Charged != (Cost{Tokens: 5}) || st.Reserved != (Cost{}) || st.Failures != 2 || st.Peak.Tokens != 10 {
		t.Errorf("%+v", st)
	}
	put(t, c, "b", 5)
	if c.Len() != 2 {
		t.Error(c.Keys())
	}
}

func TestEvictCallbackCannotBreakAccounting(t *testing.T) {
	var c *Cache[string, int]
	c = newTest(t, Options[string, int]{Policy: LRU, BudgetTokens: 10, OnEvict: func(key string, _ int, _ Cost, why Reason) {
		if c.Len() > 1 || why != Evicted { // it may call the cache
			t.Error(c.Keys(), why)
		}
		panic(key)
	}})
	put(t, c, "a", 10)
	func() {
		defer func() {
			if recover() != "a" {
				t.Error("the panic did not come through")
			}
		}()
		put(t, c, "b", 10)
	}()
	if st := c.Stats(); st.Charged != (Cost{}) || st.Items != 0 {
		t.Errorf("%+v", st)
	}
	if err := c.check(); err != nil {
		t.Error(err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options[string, int]{
		{}, {BudgetTokens: -1}, {BudgetTokens: 1, BudgetBytes: -1}, {BudgetTokens: 1, Policy: "mru"},
		{BudgetTokens: 1, LowWatermark: 1.5}, {BudgetTokens: 1, LowWatermark: -0.1}, {BudgetTokens: 1, LowWatermark: math.NaN()},
	} {
		if _, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, p := range Policies() {
		if got, err := ParsePolicy(string(p)); got != p || err != nil {
			t.Error(p, got, err)
		}
	}
	if p, err := ParsePolicy(""); p != IdleSize || err != nil {
		t.Error(p, err)
	}
}
