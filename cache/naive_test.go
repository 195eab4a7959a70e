package cache

import (
	"math"
	"slices"
)

// The naive model: slices, one eviction at a time, no cleverness. It shares
// no code with the cache but the names of policies, classes and reasons.

type naiveItem struct {
	key           int
	tokens, bytes int64
	seq, last     uint64
	pins          int
	class         Class
	freq          int
	stamp         int
	rank          float64
	main          bool
}

type naive struct {
	policy        Policy
	tokens, bytes int64 // budgets, 0 none
	low           float64
	manual        bool

	line   []*naiveItem // LRU, CLOCK, SIEVE and the small fifo: oldest first; else by admission
	main   []*naiveItem
	ghosts []*naiveItem
	hand   *naiveItem
	floor  float64
	refs   int

	clock, seq            uint64
	hits, faults, evicted int
	gone                  []int // keys that left in this step
}

func (m *naive) all() []*naiveItem { return append(slices.Clone(m.line), m.main...) }

func (m *naive) find(key int) *naiveItem {
	for _, it := range m.all() {
		if it.key == key {
			return it
		}
	}
	return nil
}

func (m *naive) sum(pinnedOnly bool) (tokens, bytes int64) {
	for _, it := range m.all() {
		if it.pins > 0 || !pinnedOnly {
			tokens += it.tokens
			bytes += it.bytes
		}
	}
	return tokens, bytes
}

func (m *naive) size(it *naiveItem) int64 {
	n := it.bytes
	if m.tokens > 0 {
		n = it.tokens
	}
	return max(n, 1)
}

func (m *naive) limit() int64 {
	if m.tokens > 0 {
		return m.tokens
	}
	return m.bytes
}

func (m *naive) tick() { m.clock++ }

func (m *naive) step() {
	if !m.manual {
		m.clock++
	}
}

// get references a key; true: it was resident.
func (m *naive) get(key int) bool {
	it := m.find(key)
	if it == nil {
		return false
	}
	m.hits++
	m.step()
	it.last = m.clock
	switch m.policy {
	case LRU:
		m.line = append(without(m.line, it), it)
	case CLOCK, SIEVE:
		it.freq = 1
	case S3FIFO:
		it.freq = min(3, it.freq+1)
	case GDSF:
		m.rank(it)
	}
	return true
}

func (m *naive) rank(it *naiveItem) {
	m.refs++
	it.freq++
	it.stamp = m.refs
	it.rank = m.floor + float64(it.freq)*1e6/float64(m.size(it))
}

func over(sum, budget int64) bool { return budget > 0 && sum > budget }

// load returns "hit", "fault" or "over".
func (m *naive) load(key int, tokens, bytes int64) string {
	if m.get(key) {
		return "hit"
	}
	pt, pb := m.sum(true)
	if over(pt+tokens, m.tokens) || over(pb+bytes, m.bytes) {
		return "over"
	}
	m.faults++
	m.step()
	m.makeRoom(tokens, bytes)
	m.seq++
	it := &naiveItem{key: key, tokens: tokens, bytes: bytes, seq: m.seq, last: m.clock}
	m.insert(it)
	return "fault"
}

func (m *naive) makeRoom(tokens, bytes int64) {
	exceeds := func(part float64) bool {
		t, b := m.sum(false)
		return over(t+tokens, int64(math.Floor(float64(m.tokens)*part))) ||
			over(b+bytes, int64(math.Floor(float64(m.bytes)*part)))
	}
	if !exceeds(1) {
		return
	}
	for _, class := range []Class{Doomed, Normal} {
		for exceeds(m.low) && m.leave(class) {
		}
	}
	for exceeds(1) && m.leave(Guarded) {
	}
}

func (m *naive) insert(it *naiveItem) {
	switch m.policy {
	case S3FIFO:
		ghost := slices.IndexFunc(m.ghosts, func(g *naiveItem) bool { return g.key == it.key })
		if ghost >= 0 {
			m.ghosts = slices.Delete(m.ghosts, ghost, ghost+1)
		}
		if ghost >= 0 || m.size(it) >= m.limit()/10 {
			it.main = true
			m.main = append(m.main, it)
			return
		}
	case GDSF:
		m.rank(it)
	}
	m.line = append(m.line, it)
}

// leave evicts one item of the class; false: none may leave.
func (m *naive) leave(class Class) bool {
	may := func(it *naiveItem) bool { return it.pins == 0 && it.class == class }
	if !slices.ContainsFunc(m.all(), may) {
		return false
	}
	var it *naiveItem
	switch m.policy {
	case LRU:
		it = m.line[slices.IndexFunc(m.line, may)]
	case CLOCK:
		it = m.clockVictim(may)
	case SIEVE:
		it = m.sieveVictim(may)
	case S3FIFO:
		it = m.s3Victim(may)
	case GDSF:
		it = least(m.line, may, func(a, b *naiveItem) bool {
			return a.rank < b.rank || a.rank == b.rank && a.stamp < b.stamp
		})
		if class == Normal {
			m.floor = max(m.floor, it.rank)
		}
	case IdleSize:
		it = least(m.line, may, func(a, b *naiveItem) bool {
			x, y := m.idleScore(a), m.idleScore(b)
			return x > y || x == y && a.seq < b.seq
		})
	}
	m.remove(it)
	m.evicted++
	return true
}

func (m *naive) remove(it *naiveItem) {
	m.line, m.main = without(m.line, it), without(m.main, it)
	m.gone = append(m.gone, it.key)
}

func without(list []*naiveItem, it *naiveItem) []*naiveItem {
	return slices.DeleteFunc(slices.Clone(list), func(o *naiveItem) bool { return o == it })
}
