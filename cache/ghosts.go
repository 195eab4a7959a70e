package cache

// ghost is a key that left lately, without its value.
type ghost[K comparable] struct {
	key          K
	size         int64
	newer, older *ghost[K]
}

// ghosts is a fifo of them, bounded by the sum of their sizes.
type ghosts[K comparable] struct {
	limit          int64
	newest, oldest *ghost[K]
	at             map[K]*ghost[K]
	// invariant: size is the sum of the ghosts' sizes, at most limit.
	size int64
}

// add remembers a key as the newest; the oldest are forgotten for it. One
// larger than the limit is not remembered. REQUIRES: it is not there.
func (g *ghosts[K]) add(key K, size int64) {
	if size > g.limit {
		return
	}
	for g.size > g.limit-size {
		g.remove(g.oldest)
	}
	n := &ghost[K]{key: key, size: size, older: g.newest}
	if g.newest != nil {
		g.newest.newer = n
	} else {
		g.oldest = n
	}
	g.newest = n
	g.at[key] = n
	g.size += size
}

// take forgets a key and reports whether it was remembered.
func (g *ghosts[K]) take(key K) bool {
	n := g.at[key]
	if n == nil {
		return false
	}
	g.remove(n)
	return true
}

func (g *ghosts[K]) remove(n *ghost[K]) {
	if n.newer != nil {
		n.newer.older = n.older
	} else {
		g.newest = n.older
	}
	if n.older != nil {
		n.older.newer = n.newer
	} else {
		g.oldest = n.newer
	}
	delete(g.at, n.key)
	g.size -= n.size
}
