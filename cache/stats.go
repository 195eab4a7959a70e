package cache

// counts are the counters behind Stats.
type counts struct {
	hits, faults, shared int64
	loads, failures      int64
	evictions, batches   int64
	released             int64
	evicted, peak        Cost
}

// Stats is a consistent picture of a cache. All counts are since New.
type Stats struct {
	Refs      int64 // Hits + Faults
	Hits      int64 // references to residents
	Faults    int64 // references that had to load, or shared a load
	Shared    int64 // faults that shared the load of another
	Loads     int64 // loads that made a resident
	Failures  int64 // loads that failed or were dropped
	Evictions int64 // items that left for want of room
	Batches   int64 // times that room was wanted
	Released  int64 // items that left by Release or Drop
	Evicted   Cost  // sum of the costs of Evictions

	Items    int
	Charged  Cost // residents and reservations: at most the budget, always
	Reserved Cost // loads under way
	Pinned   Cost
	Peak     Cost // the largest Charged there ever was, by dimension
	Waiting  int  // faults that wait for room
}

// Stats returns the counters and the charge, all of the same instant.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.counts
	return Stats{
		Refs: n.hits + n.faults, Hits: n.hits, Faults: n.faults, Shared: n.shared,
		Loads: n.loads, Failures: n.failures,
		Evictions: n.evictions, Batches: n.batches, Released: n.released, Evicted: n.evicted,
		Items: len(c.items), Charged: c.charged, Reserved: c.reserved, Pinned: c.pinned,
		Peak: n.peak, Waiting: len(c.waiting),
	}
}
