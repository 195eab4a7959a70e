package cache

import (
	"fmt"
	"slices"
	"sync"
)

// Cache is a set of residents under a strict budget. It is safe for
// concurrent use. The zero value is not usable; see New.
type Cache[K comparable, V any] struct {
	opts  Options[K, V]
	limit Cost // hard limits
	low   Cost // where a batch stops

	mu     sync.Mutex
	items  map[K]*item[K, V]
	policy evictor[K, V]
	scale  *scale
	seq    uint64

	// invariant: charged = sum of residents' costs + reserved <= limit
	charged Cost
	// invariant: reserved = sum of the costs of flights with reserved set
	reserved Cost
	// invariant: pinned = sum of the costs of residents with pins > 0
	pinned Cost
	// invariant: loose[c] = residents of class c without pins
	loose [classes]int

	flights map[K]*flight[K, V]
	waiting []*waiter // faults that wait for room, first come first served

	counts counts
}

// New makes an empty cache. ErrOptions if the options name no budget, no
// known policy, or a low watermark outside (0, 1].
func New[K comparable, V any](opts Options[K, V]) (*Cache[K, V], error) {
	limit, low, err := opts.limits()
	if err != nil {
		return nil, err
	}
	if opts.Policy, err = ParsePolicy(string(opts.Policy)); err != nil {
		return nil, err
	}
	c := &Cache[K, V]{
		opts: opts, limit: limit, low: low,
		items:   make(map[K]*item[K, V]),
		flights: make(map[K]*flight[K, V]),
		scale:   &scale{limit: limit.Tokens},
	}
	if opts.BudgetTokens == 0 {
		c.scale.limit = limit.Bytes
	}
	c.policy, err = newEvictor[K, V](opts.Policy, c.scale)
	return c, err
}

// Get returns the value of a resident and counts a hit. When the key is not
// resident it counts and changes nothing: the fault is counted by the Load
// that follows. It does not allocate.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	it := c.items[key]
	if it == nil {
		c.mu.Unlock()
		var none V
		return none, false
	}
	c.touch(it)
	v := it.val
	c.mu.Unlock()
	return v, true
}

// touch counts a hit. REQUIRES: the lock.
func (c *Cache[K, V]) touch(it *item[K, V]) {
	c.counts.hits++
	c.step()
	it.last = c.scale.now
	c.policy.hit(it)
	c.checked()
}

// step counts a reference on the clock. REQUIRES: the lock.
func (c *Cache[K, V]) step() {
	if !c.opts.ManualTick {
		c.scale.now++
	}
}

// Peek returns the value of a resident without counting a reference.
func (c *Cache[K, V]) Peek(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it := c.items[key]; it != nil {
		return it.val, true
	}
	var none V
	return none, false
}

// Tick moves the clock of idle-size on by one step.
func (c *Cache[K, V]) Tick() {
	c.mu.Lock()
	c.scale.now++
	c.mu.Unlock()
}

// Len returns the number of residents.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.items)
}

// Keys returns the residents in the order of their admission. The caller
// owns the slice.
func (c *Cache[K, V]) Keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]K, 0, len(c.items))
	for _, it := range c.admitted() {
		keys = append(keys, it.key)
	}
	return keys
}

// admitted lists the residents by order of admission. REQUIRES: the lock.
func (c *Cache[K, V]) admitted() []*item[K, V] {
	all := make([]*item[K, V], 0, len(c.items))
	for _, it := range c.items {
		all = append(all, it)
	}
	slices.SortFunc(all, bySeq[K, V])
	return all
}

// SetClass puts a resident, or a key whose load is under way, into a class
// and reports whether there was one. The class is forgotten when the item
// leaves. A reference does not change it.
func (c *Cache[K, V]) SetClass(key K, class Class) bool {
	if class >= classes {
		panic(fmt.Sprintf("cache: %v does not exist", class))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if it := c.items[key]; it != nil {
		if it.pins == 0 {
			c.loose[it.class]--
			c.loose[class]++
		}
		it.class = class
		c.checked()
		return true
	}
	if fl := c.flights[key]; fl != nil {
		fl.class = class
		return true
	}
	return false
}

// Pin keeps a resident from leaving until as many Unpins have come. What is
// pinned is charged already, so a pin of a resident always fits; to load and
// pin at once use LoadPinned. Not resident: ErrNotResident.
func (c *Cache[K, V]) Pin(key K) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	it := c.items[key]
	if it == nil {
		return ErrNotResident
	}
	c.pin(it)
	c.checked()
	return nil
}

func (c *Cache[K, V]) pin(it *item[K, V]) {
	if it.pins == 0 {
		c.pinned = c.pinned.add(it.cost)
		c.loose[it.class]--
	}
	it.pins++
}

// Unpin takes back one Pin and reports whether there was one.
func (c *Cache[K, V]) Unpin(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	it := c.items[key]
	if it == nil || it.pins == 0 {
		return false
	}
	if it.pins--; it.pins == 0 {
		c.pinned = c.pinned.sub(it.cost)
		c.loose[it.class]++
		c.wake()
	}
	c.checked()
	return true
}

// Release drops a resident. ErrPinned if it is pinned, ErrNotResident if it
// is not there or still being loaded; neither changes anything.
func (c *Cache[K, V]) Release(key K) error {
	c.mu.Lock()
	it := c.items[key]
	switch {
	case it == nil:
		c.mu.Unlock()
		return ErrNotResident
	case it.pins > 0:
		c.mu.Unlock()
		return ErrPinned
	}
	c.release(it)
	return nil
}

// Drop removes a key whatever its pins and reports whether there was
// anything to drop. It is for what must not stay, such as a forgotten turn:
// a load under way ends in ErrDropped for all who wait for it.
func (c *Cache[K, V]) Drop(key K) bool {
	c.mu.Lock()
	if it := c.items[key]; it != nil {
		c.release(it)
		return true
	}
	defer c.mu.Unlock()
	fl := c.flights[key]
	if fl == nil {
		return false
	}
	fl.dropped = true
	return true
}

// release takes out a resident and tells of it. REQUIRES: the lock; it is
// given back here.
func (c *Cache[K, V]) release(it *item[K, V]) {
	c.policy.remove(it)
	c.discharge(it)
	c.counts.released++
	c.wake()
	c.checked()
	c.mu.Unlock()
	if c.opts.OnEvict != nil {
		c.opts.OnEvict(it.key, it.val, it.cost, Released)
	}
}

// discharge gives back what a resident cost. REQUIRES: the lock; the policy
// has forgotten the item.
func (c *Cache[K, V]) discharge(it *item[K, V]) {
	delete(c.items, it.key)
	c.charged = c.charged.sub(it.cost)
	if it.pins > 0 {
		c.pinned = c.pinned.sub(it.cost)
	} else {
		c.loose[it.class]--
	}
}
