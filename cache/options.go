package cache

import (
	"fmt"
	"math"
)

// Cost is what an item takes from the budgets. Both parts are zero or more.
type Cost struct {
	Tokens int64
	Bytes  int64
}

func (c Cost) add(d Cost) Cost { return Cost{c.Tokens + d.Tokens, c.Bytes + d.Bytes} }
func (c Cost) sub(d Cost) Cost { return Cost{c.Tokens - d.Tokens, c.Bytes - d.Bytes} }

// within reports whether c is at most d in both dimensions.
func (c Cost) within(d Cost) bool { return c.Tokens <= d.Tokens && c.Bytes <= d.Bytes }

// Class says who leaves before whom, before any policy is asked.
type Class uint8

const (
	// Normal items leave in the order of the policy. Every item is admitted
	// as Normal.
	Normal Class = iota
	// Doomed items leave before all others: superseded copies.
	Doomed
	// Guarded items leave last, and only when the budget, not the low
	// watermark, asks for it: the recent tail.
	Guarded

	classes = 3
)

func (c Class) String() string {
	switch c {
	case Normal:
		return "normal"
	case Doomed:
		return "doomed"
	case Guarded:
		return "guarded"
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Reason tells OnEvict why an item left.
type Reason uint8

const (
	// Evicted: room was needed.
	Evicted Reason = iota
	// Released: Release or Drop was called.
	Released
)

func (r Reason) String() string {
	if r == Released {
		return "released"
	}
	return "evicted"
}

// Options configure a cache. At least one budget must be set.
type Options[K comparable, V any] struct {
	// BudgetTokens and BudgetBytes are hard limits of the charge; 0: none.
	BudgetTokens int64
	BudgetBytes  int64
	// Policy names the order of leaving within a class; "": IdleSize.
	Policy Policy
	// LowWatermark is the part of each budget, in (0, 1], down to which a
	// batch evicts once room is needed at all, the item to be admitted
	// counted. 0 or 1: evict just enough, one at a time. An item larger than
	// the low watermark itself clears out everything that is not guarded.
	LowWatermark float64
	// ManualTick leaves the clock of idle-size to Tick. Otherwise each
	// counted reference is one step.
	ManualTick bool
	// OnEvict, if set, is called once for each item that left, by the
	// goroutine that made it leave, in the order of leaving, outside the
	// lock and after its cost was given back. It may call the cache. A panic
	// in it reaches the caller and leaves the accounting as it was.
	OnEvict func(key K, value V, cost Cost, why Reason)
}

// limits gives the hard limits and the low marks; no budget is the largest
// number there is, so that one comparison serves all and no sum overflows.
func (o *Options[K, V]) limits() (limit, low Cost, err error) {
	if o.BudgetTokens < 0 || o.BudgetBytes < 0 || o.BudgetTokens == 0 && o.BudgetBytes == 0 {
		return limit, low, fmt.Errorf("%w: budgets of %d tokens and %d bytes", ErrOptions, o.BudgetTokens, o.BudgetBytes)
	}
	if !(o.LowWatermark >= 0 && o.LowWatermark <= 1) {
		return limit, low, fmt.Errorf("%w: low watermark %v is not in (0, 1]", ErrOptions, o.LowWatermark)
	}
	limit.Tokens, low.Tokens = mark(o.BudgetTokens, o.LowWatermark)
	limit.Bytes, low.Bytes = mark(o.BudgetBytes, o.LowWatermark)
	return limit, low, nil
}

func mark(budget int64, part float64) (limit, low int64) {
	switch {
	case budget == 0:
		return math.MaxInt64, math.MaxInt64
	case part == 0 || part == 1:
		return budget, budget
	}
	return budget, min(budget, int64(math.Floor(float64(budget)*part)))
}
