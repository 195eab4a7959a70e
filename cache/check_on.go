//go:build ctxdbcheck

package cache

// checked panics when an invariant is broken. REQUIRES: the lock.
func (c *Cache[K, V]) checked() {
	if err := c.check(); err != nil {
		panic(err)
	}
}
