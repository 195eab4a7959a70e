package cache

import (
	"math"
	"slices"
)

func least(list []*naiveItem, may func(*naiveItem) bool, less func(a, b *naiveItem) bool) *naiveItem {
	var best *naiveItem
	for _, it := range list {
		if may(it) && (best == nil || less(it, best)) {
			best = it
		}
	}
	return best
}

func (m *naive) idleScore(it *naiveItem) float64 {
	s := math.Sqrt(float64(m.size(it)))
	return float64(m.clock-it.last) * (s * math.Sqrt(s))
}

func (m *naive) clockVictim(may func(*naiveItem) bool) *naiveItem {
	for {
		it := m.line[slices.IndexFunc(m.line, may)]
		if it.freq == 0 {
			return it
		}
		it.freq = 0
		m.line = append(without(m.line, it), it)
	}
}

func (m *naive) sieveVictim(may func(*naiveItem) bool) *naiveItem {
	for {
		at := max(0, slices.Index(m.line, m.hand))
		it := m.line[at]
		m.advanceHand(at)
		if !may(it) {
			continue
		}
		if it.freq == 0 {
			return it
		}
		it.freq = 0
	}
}

func (m *naive) advanceHand(at int) {
	m.hand = nil
	if at+1 < len(m.line) {
		m.hand = m.line[at+1]
	}
}

// release takes out a resident that is not evicted.
func (m *naive) release(it *naiveItem) {
	if m.hand == it {
		m.advanceHand(slices.Index(m.line, it))
	}
	m.remove(it)
}

func (m *naive) s3Victim(may func(*naiveItem) bool) *naiveItem {
	var inMain int64
	for _, it := range m.main {
		inMain += m.size(it)
	}
	preferMain := inMain > m.limit()-m.limit()/10 && slices.ContainsFunc(m.main, may)
	for !preferMain {
		at := slices.IndexFunc(m.line, may)
		if at < 0 {
			break
		}
		it := m.line[at]
		if it.freq < 2 {
			m.haunt(it)
			return it
		}
		it.freq, it.main = 0, true
		m.line = without(m.line, it)
		m.main = append(m.main, it)
	}
	for {
		it := m.main[slices.IndexFunc(m.main, may)]
		if it.freq == 0 {
			return it
		}
		it.freq--
		m.main = append(without(m.main, it), it)
	}
}

// haunt adds a ghost and lets the oldest ones go.
func (m *naive) haunt(it *naiveItem) {
	limit := m.limit() - m.limit()/10
	if m.size(it) > limit {
		return
	}
	m.ghosts = append(m.ghosts, it)
	var sum int64
	for _, g := range m.ghosts {
		sum += m.size(g)
	}
	for sum > limit {
		sum -= m.size(m.ghosts[0])
		m.ghosts = m.ghosts[1:]
	}
}
