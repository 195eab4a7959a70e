package cache

import (
	"fmt"
	"math"
)

// Snapshot is the state of a cache without its values and counters: enough
// to restore one whose residents will be the same for the same references
// ever after. Two caches in the same state give equal snapshots. Loads under
// way are not part of it.
type Snapshot[K comparable] struct {
	Policy Policy
	Clock  uint64          // steps so far
	Seq    uint64          // items admitted so far
	Items  []ItemState[K]  // in the policy's order, for most of them the next to leave first
	Ghosts []GhostState[K] // S3-FIFO: keys that left lately, oldest first
	Hand   int             // SIEVE: index in Items of where the hand stands, -1 at none
	Floor  float64         // GDSF: the L value
	Refs   uint64          // GDSF: references so far
}

// ItemState is one resident of a Snapshot.
type ItemState[K comparable] struct {
	Key      K
	Cost     Cost
	Seq      uint64 // order of admission
	Last     uint64 // the step of the latest reference
	Pins     int
	Class    Class
	Queue    uint8   // S3-FIFO: 0 small, 1 main
	Freq     uint32  // CLOCK, SIEVE: the reference bit; S3-FIFO, GDSF: references
	Stamp    uint64  // GDSF: number of the latest reference
	Priority float64 // GDSF: the H value
}

// GhostState is a key that S3-FIFO remembers without its value.
type GhostState[K comparable] struct {
	Key  K
	Size int64
}

// Snapshot returns the state; the caller owns it.
func (c *Cache[K, V]) Snapshot() Snapshot[K] {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Snapshot[K]{Policy: c.opts.Policy, Clock: c.scale.now, Seq: c.seq, Hand: -1}
	for it := range c.policy.order() {
		s.Items = append(s.Items, ItemState[K]{
			Key: it.key, Cost: it.cost, Seq: it.seq, Last: it.last, Pins: it.pins, Class: it.class,
			Queue: it.queue, Freq: it.freq, Stamp: it.stamp, Priority: it.priority,
		})
	}
	c.policy.save(&s)
	return s
}

// Restore puts a snapshot into an empty cache of the same policy. value gives
// each item's value; an item for which it says false no longer exists and is
// left out. The budgets may be others than those of the cache that wrote the
// snapshot: what does not fit leaves first, by the policy's own order and
// uncounted, before any value is asked for; if the pinned items alone do not
// fit it is ErrOverBudget. With an error nothing changed. value must not call
// the cache.
func (c *Cache[K, V]) Restore(s Snapshot[K], value func(key K) (V, bool)) error {
	next, err := c.rebuild(s)
	if err != nil {
		return err
	}
	for _, it := range next.admitted() {
		var ok bool
		if it.val, ok = value(it.key); !ok {
			next.policy.remove(it)
			next.discharge(it)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.items) > 0 || len(c.flights) > 0 || c.counts.hits+c.counts.faults > 0 {
		return fmt.Errorf("%w: the cache to restore into is in use", ErrState)
	}
	c.items, c.seq, c.policy, c.scale = next.items, next.seq, next.policy, next.scale
	c.charged, c.pinned, c.loose = next.charged, next.pinned, next.loose
	c.counts.peak = next.charged
	c.checked()
	return nil
}

// rebuild makes a cache of the state beside this one, without values, and
// lets leave what exceeds the budget.
func (c *Cache[K, V]) rebuild(s Snapshot[K]) (*Cache[K, V], error) {
	if s.Policy != c.opts.Policy {
		return nil, fmt.Errorf("%w: of policy %q, not %q", ErrState, s.Policy, c.opts.Policy)
	}
	opts := c.opts
	opts.OnEvict = nil
	next, err := New(opts)
	if err != nil {
		return nil, err
	}
	next.scale.now, next.seq = s.Clock, s.Seq
	items, err := next.takeIn(&s)
	if err != nil {
		return nil, err
	}
	if err := next.policy.restore(&s, items); err != nil {
		return nil, err
	}
	if !next.charged.within(next.limit) {
		next.evict(nil, Doomed, next.low)
		next.evict(nil, Normal, next.low)
		next.evict(nil, Guarded, next.limit)
	}
	if !next.charged.within(next.limit) {
		return nil, overBudget(Cost{}, next.pinned, next.limit)
	}
	return next, nil
}

// takeIn makes the residents of a snapshot, before any policy knows them.
func (c *Cache[K, V]) takeIn(s *Snapshot[K]) ([]*item[K, V], error) {
	items := make([]*item[K, V], 0, len(s.Items))
	seqs := make(map[uint64]bool, len(s.Items))
	room := Cost{math.MaxInt64, math.MaxInt64}
	for i := range s.Items {
		st := &s.Items[i]
		if st.Cost.Tokens < 0 || st.Cost.Bytes < 0 || !st.Cost.within(room.sub(c.charged)) ||
			st.Pins < 0 || st.Class >= classes || st.Seq == 0 || st.Seq > s.Seq ||
			st.Last > s.Clock || seqs[st.Seq] || c.items[st.Key] != nil {
			return nil, fmt.Errorf("%w: item %d", ErrState, i)
		}
		it := &item[K, V]{
			key: st.Key, cost: st.Cost, seq: st.Seq, last: st.Last, size: c.sizeOf(st.Cost),
			pins: st.Pins, class: st.Class, queue: st.Queue, freq: st.Freq,
			stamp: st.Stamp, priority: st.Priority,
		}
		seqs[st.Seq] = true
		c.items[it.key] = it
		c.charged = c.charged.add(it.cost)
		if it.pins > 0 {
			c.pinned = c.pinned.add(it.cost)
		} else {
			c.loose[it.class]++
		}
		items = append(items, it)
	}
	return items, nil
}
