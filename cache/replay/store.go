package replay

import (
	"context"

	"ctxdb/cache"
)

// store is what a simulation runs on: a cache, or somebody who knows the future.
type store interface {
	tick()
	// load references a page of at most the budget and reports whether it was
	// resident. It is now.
	load(p page, cost int64) (hit bool, err error)
	resident(p page) bool
	setClass(p page, class cache.Class)
	stats() cache.Stats
}

// cacheStore is the cache that windows stand on.
type cacheStore struct{ c *cache.Cache[page, struct{}] }

func newCacheStore(o Options, gone func(page)) (cacheStore, error) {
	c, err := cache.New(cache.Options[page, struct{}]{
		BudgetTokens: o.Budget, Policy: o.Policy, LowWatermark: o.LowWatermark, ManualTick: true,
		OnEvict: func(p page, _ struct{}, _ cache.Cost, _ cache.Reason) { gone(p) },
	})
	return cacheStore{c}, err
}

func (s cacheStore) tick()                              { s.c.Tick() }
func (s cacheStore) setClass(p page, class cache.Class) { s.c.SetClass(p, class) }
func (s cacheStore) stats() cache.Stats                 { return s.c.Stats() }

func (s cacheStore) resident(p page) bool {
	_, ok := s.c.Peek(p)
	return ok
}

func (s cacheStore) load(p page, cost int64) (bool, error) {
	_, hit, err := s.c.Load(context.Background(), p, cache.Cost{Tokens: cost}, nothing)
	return hit, err
}

func nothing() (struct{}, error) { return struct{}{}, nil }
