package cache

// fits reports whether the cost has room now, if all that may leave left.
// The subtractions cannot overflow, where sums could. REQUIRES: the lock.
func (c *Cache[K, V]) fits(cost Cost) bool {
	return cost.within(c.limit.sub(c.pinned).sub(c.reserved))
}

// hopeless reports whether the cost has no room even when every load under
// way has ended and left. REQUIRES: the lock.
func (c *Cache[K, V]) hopeless(cost Cost) bool {
	return !cost.within(c.limit.sub(c.pinned))
}

// reserve charges the cost before anything is loaded, and evicts what must
// leave for it. It returns what left if somebody wants to hear of it.
// REQUIRES: the lock, fits(cost).
func (c *Cache[K, V]) reserve(cost Cost) []*item[K, V] {
	var gone []*item[K, V]
	if !c.charged.within(c.limit.sub(cost)) {
		c.counts.batches++
		// To below zero at worst: then the class is cleared out.
		low, limit := c.low.sub(cost), c.limit.sub(cost)
		gone = c.evict(gone, Doomed, low)
		gone = c.evict(gone, Normal, low)
		gone = c.evict(gone, Guarded, limit)
	}
	c.charged = c.charged.add(cost)
	c.reserved = c.reserved.add(cost)
	c.counts.peak.Tokens = max(c.counts.peak.Tokens, c.charged.Tokens)
	c.counts.peak.Bytes = max(c.counts.peak.Bytes, c.charged.Bytes)
	c.checked()
	return gone
}

// evict lets items of a class leave until the charge is at most the mark or
// none is left. REQUIRES: the lock.
func (c *Cache[K, V]) evict(gone []*item[K, V], class Class, mark Cost) []*item[K, V] {
	if c.loose[class] == 0 || c.charged.within(mark) {
		return gone
	}
	for it := range c.policy.victims(class, c.loose[class]) {
		c.discharge(it)
		c.counts.evictions++
		c.counts.evicted = c.counts.evicted.add(it.cost)
		if c.opts.OnEvict != nil {
			gone = append(gone, it)
		}
		if c.charged.within(mark) {
			break
		}
	}
	return gone
}

// notify tells of what left. REQUIRES: no lock.
func (c *Cache[K, V]) notify(gone []*item[K, V]) {
	for _, it := range gone {
		c.opts.OnEvict(it.key, it.val, it.cost, Evicted)
	}
}

// admit turns a loaded value into a resident; its cost is charged already.
// REQUIRES: the lock.
func (c *Cache[K, V]) admit(fl *flight[K, V]) {
	c.seq++
	it := &item[K, V]{
		key: fl.key, val: fl.val, cost: fl.cost, class: fl.class,
		seq: c.seq, last: c.scale.now, size: c.sizeOf(fl.cost),
	}
	c.items[it.key] = it
	c.loose[it.class]++
	c.policy.admit(it)
	if fl.pins > 0 {
		c.pin(it)
		it.pins = fl.pins
	}
}

// sizeOf is the cost in the dimension that policies weigh by.
func (c *Cache[K, V]) sizeOf(cost Cost) int64 {
	if c.opts.BudgetTokens > 0 {
		return max(1, cost.Tokens)
	}
	return max(1, cost.Bytes)
}
