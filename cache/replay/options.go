package replay

import (
	"errors"
	"fmt"

	"ctxdb/cache"
)

// ErrOptions: the options contradict themselves.
var ErrOptions = errors.New("replay: bad options")

// DefaultPageSize and DefaultWatermark are those of engine.WindowOptions.
const (
	DefaultPageSize  = 1024
	DefaultWatermark = 0.6
	DefaultRecent    = 4
)

// Options of one run.
type Options struct {
	Budget int64        // hard limit, in the unit of the trace's sizes
	Policy cache.Policy // "": idle-size
	// PageSize is the size of a part; 0: whole turns.
	PageSize int64
	// LowWatermark is the part of the budget down to which a batch evicts; 0 or
	// 1: eager, just enough each time.
	LowWatermark float64
	// KeepSuperseded leaves superseded copies to the policy. Otherwise they
	// leave first.
	KeepSuperseded bool
	// DoomEdited makes an edit of a file supersede what was read of it. That was
	// measured to hurt.
	DoomEdited bool
	// Recent is how many steps an item stays guarded after it was made; 0:
	// DefaultRecent; negative: not at all.
	Recent int
	Prices Prices // the zero value: DefaultPrices
}

// WindowOptions are those that a window has by default, at that budget.
func WindowOptions(budget int64) Options {
	return Options{Budget: budget, Policy: cache.IdleSize, PageSize: DefaultPageSize, LowWatermark: DefaultWatermark}
}

func (o *Options) complete() (err error) {
	if o.Policy, err = cache.ParsePolicy(string(o.Policy)); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	switch {
	case o.Budget <= 0:
		return fmt.Errorf("%w: a budget of %d", ErrOptions, o.Budget)
	case o.PageSize < 0:
		return fmt.Errorf("%w: pages of %d", ErrOptions, o.PageSize)
	case !(o.LowWatermark >= 0 && o.LowWatermark <= 1):
		return fmt.Errorf("%w: a low watermark of %g", ErrOptions, o.LowWatermark)
	}
	if o.Recent == 0 {
		o.Recent = DefaultRecent
	}
	if o.Prices == (Prices{}) {
		o.Prices = DefaultPrices
	}
	return o.Prices.check()
}

// Prices are per token, in any currency, but for Request, which is per fault.
type Prices struct {
	Read    float64 // a token of the prompt that the prompt cache already has
	Write   float64 // a token of the prompt that is new to the prompt cache
	Request float64 // what a fault costs beside the tokens it brings, such as the call that asks for it
}

// DefaultPrices are relative to a cached read: a cache write costs 12.5 times as
// much (1.25 against 0.1 of the plain input price at Anthropic).
var DefaultPrices = Prices{Read: 1, Write: 12.5}

func (p Prices) check() error {
	if !(p.Read >= 0 && p.Write >= 0 && p.Request >= 0) {
		return fmt.Errorf("%w: prices %+v", ErrOptions, p)
	}
	return nil
}
