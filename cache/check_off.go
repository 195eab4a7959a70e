//go:build !ctxdbcheck

package cache

// checked does nothing without the build tag ctxdbcheck.
func (c *Cache[K, V]) checked() {}
