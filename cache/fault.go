package cache

import (
	"context"
	"slices"
)

// flight is one fault under way, shared by all who reference its key.
type flight[K comparable, V any] struct {
	key      K
	cost     Cost
	done     chan struct{} // closed once val, err and ended are final
	val      V
	err      error
	ended    bool
	reserved bool // the cost is charged, the load runs
	dropped  bool // Drop was called meanwhile
	refs     int  // references that wait, the owner's included
	pins     int
	class    Class
}

// waiter is a fault that waits for loads under way to end.
type waiter struct{ ready chan struct{} }

// Load returns the value of key and whether it was resident. If it was not,
// the cost is reserved, load is run by one caller for all who want the key,
// and the value becomes resident; the cost given by that caller counts, and
// a resident keeps the cost that it came with. Everyone gets the same value
// and the same error.
//
// A cost that does not fit beside what is pinned is ErrOverBudget and changes
// nothing: nobody is evicted, nothing is counted, the clock stands still. A
// cost that fits only once loads under way have ended waits for its turn. The
// context ends waiting, be it for room or for another caller's load, and is
// not looked at while load itself runs; a context that has ended before
// anything was reserved changes nothing.
//
// When load fails its reservation is given back; what was evicted for it
// stays evicted, because room had to be there before loading, and the fault
// stays counted. load must not call this cache, and should not depend on one
// caller's context, since others may share its error.
func (c *Cache[K, V]) Load(ctx context.Context, key K, cost Cost, load func() (V, error)) (v V, hit bool, err error) {
	return c.load(ctx, key, cost, load, false)
}

// LoadPinned is Load and Pin in one step, so that nothing can evict the item
// between them. Without an error the caller owes one Unpin.
func (c *Cache[K, V]) LoadPinned(ctx context.Context, key K, cost Cost, load func() (V, error)) (v V, hit bool, err error) {
	return c.load(ctx, key, cost, load, true)
}

func (c *Cache[K, V]) load(ctx context.Context, key K, cost Cost, load func() (V, error), pin bool) (v V, hit bool, err error) {
	for {
		c.mu.Lock()
		if it := c.items[key]; it != nil {
			if pin {
				c.pin(it)
			}
			c.touch(it)
			v = it.val
			c.mu.Unlock()
			return v, true, nil
		}
		if fl := c.flights[key]; fl != nil {
			if v, err = c.join(ctx, fl, pin); err == errAbandoned {
				continue
			}
			return v, false, err
		}
		v, err = c.lead(ctx, &flight[K, V]{key: key, cost: cost, refs: 1, pins: count(pin)}, load)
		return v, false, err
	}
}

func count(pin bool) int {
	if pin {
		return 1
	}
	return 0
}

// join waits for another caller's fault. REQUIRES: the lock; it is given
// back here.
func (c *Cache[K, V]) join(ctx context.Context, fl *flight[K, V], pin bool) (V, error) {
	fl.refs++
	fl.pins += count(pin)
	if fl.reserved {
		c.counts.shared++
		c.counts.faults++
		c.step()
	}
	c.mu.Unlock()
	select {
	case <-fl.done:
		return fl.val, fl.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if fl.ended { // both at once: the outcome is there, and so is the pin
		return fl.val, fl.err
	}
	fl.refs--
	fl.pins -= count(pin)
	var none V
	return none, ctx.Err()
}

// lead runs a fault. REQUIRES: the lock, no flight of this key; the lock is
// given back here.
func (c *Cache[K, V]) lead(ctx context.Context, fl *flight[K, V], load func() (V, error)) (V, error) {
	if err := c.refuse(ctx, fl.cost); err != nil {
		c.mu.Unlock()
		var none V
		return none, err
	}
	fl.done = make(chan struct{})
	c.flights[fl.key] = fl
	if len(c.waiting) > 0 || !c.fits(fl.cost) {
		if err := c.await(ctx, fl); err != nil {
			c.mu.Unlock()
			var none V
			return none, err
		}
	}
	for range fl.refs {
		c.step()
	}
	c.counts.faults += int64(fl.refs)
	c.counts.shared += int64(fl.refs - 1)
	fl.reserved = true
	gone := c.reserve(fl.cost)
	c.mu.Unlock()
	return c.run(fl, load, gone)
}

// refuse says why a fault cannot even wait. REQUIRES: the lock.
func (c *Cache[K, V]) refuse(ctx context.Context, cost Cost) error {
	switch {
	case cost.Tokens < 0 || cost.Bytes < 0:
		return ErrCost
	case c.hopeless(cost):
		return overBudget(cost, c.pinned, c.limit)
	}
	return ctx.Err()
}

// await queues a fault until it is the first and fits. With an error the
// flight is over. REQUIRES: the lock, which is held again on return.
func (c *Cache[K, V]) await(ctx context.Context, fl *flight[K, V]) error {
	w := &waiter{ready: make(chan struct{}, 1)}
	c.waiting = append(c.waiting, w)
	for {
		c.mu.Unlock()
		var gaveUp bool
		select {
		case <-w.ready:
		case <-ctx.Done():
			gaveUp = true
		}
		c.mu.Lock()
		first := c.waiting[0] == w
		switch {
		case gaveUp:
			c.unqueue(w)
			c.end(fl, errAbandoned)
			return ctx.Err()
		case fl.dropped:
			c.unqueue(w)
			c.end(fl, ErrDropped)
			return ErrDropped
		case c.hopeless(fl.cost):
			err := overBudget(fl.cost, c.pinned, c.limit)
			c.unqueue(w)
			c.end(fl, err)
			return err
		case first && c.fits(fl.cost):
			c.unqueue(w)
			return nil
		}
	}
}

// unqueue takes a waiter out and lets the next one look. REQUIRES: the lock.
func (c *Cache[K, V]) unqueue(w *waiter) {
	at := slices.Index(c.waiting, w)
	c.waiting = slices.Delete(c.waiting, at, at+1)
	c.wake()
}

// wake lets the first waiter look again. REQUIRES: the lock.
func (c *Cache[K, V]) wake() {
	if len(c.waiting) > 0 {
		select {
		case c.waiting[0].ready <- struct{}{}:
		default: // it has not looked yet since the last call
		}
	}
}

// run loads and publishes, whatever happens in between. REQUIRES: no lock.
func (c *Cache[K, V]) run(fl *flight[K, V], load func() (V, error), gone []*item[K, V]) (val V, err error) {
	err = ErrLoadAborted
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reserved = c.reserved.sub(fl.cost)
		fl.reserved = false
		if err == nil && fl.dropped {
			var none V
			val, err = none, ErrDropped
		}
		if fl.val = val; err == nil {
			c.admit(fl)
			c.counts.loads++
		} else {
			c.charged = c.charged.sub(fl.cost)
			c.counts.failures++
		}
		c.end(fl, err)
		c.wake()
		c.checked()
	}()
	c.notify(gone)
	val, err = load()
	return val, err
}

// end gives the outcome to all who wait. REQUIRES: the lock.
func (c *Cache[K, V]) end(fl *flight[K, V], err error) {
	fl.err, fl.ended = err, true
	delete(c.flights, fl.key)
	close(fl.done)
}
