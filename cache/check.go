package cache

import "fmt"

// check verifies the invariants of doc.go. REQUIRES: the lock.
func (c *Cache[K, V]) check() error {
	var sum, pinned, reserved Cost
	var loose [classes]int
	for key, it := range c.items {
		if it.key != key {
			return fmt.Errorf("cache: item %v filed under %v", it.key, key)
		}
		if c.flights[key] != nil {
			return fmt.Errorf("cache: %v is resident and in flight", key)
		}
		sum = sum.add(it.cost)
		if it.pins > 0 {
			pinned = pinned.add(it.cost)
		} else {
			loose[it.class]++
		}
	}
	for _, fl := range c.flights {
		if fl.reserved {
			reserved = reserved.add(fl.cost)
		}
	}
	switch {
	case reserved != c.reserved:
		return fmt.Errorf("cache: reserved %v, flights cost %v", c.reserved, reserved)
	case sum.add(reserved) != c.charged:
		return fmt.Errorf("cache: charged %v, residents %v, reserved %v", c.charged, sum, reserved)
	case pinned != c.pinned:
		return fmt.Errorf("cache: pinned %v, pinned items cost %v", c.pinned, pinned)
	case loose != c.loose:
		return fmt.Errorf("cache: loose %v, counted %v", c.loose, loose)
	case !c.charged.within(c.limit):
		return fmt.Errorf("cache: charged %v over the budget %v", c.charged, c.limit)
	case !c.charged.within(c.counts.peak):
		return fmt.Errorf("cache: charged %v over the peak %v", c.charged, c.counts.peak)
	}
	return c.checkOrder()
}

// checkOrder verifies that the policy holds the residents and no others.
func (c *Cache[K, V]) checkOrder() error {
	seen := make(map[K]bool, len(c.items))
	for it := range c.policy.order() {
		if seen[it.key] || c.items[it.key] != it {
			return fmt.Errorf("cache: policy %s holds %v twice or after it left", c.opts.Policy, it.key)
		}
		seen[it.key] = true
	}
	if len(seen) != len(c.items) {
		return fmt.Errorf("cache: policy %s holds %d of %d residents", c.opts.Policy, len(seen), len(c.items))
	}
	return nil
}
