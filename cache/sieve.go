package cache

import (
	"fmt"
	"iter"
)

// sieve is Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson and K. V. Rashmi, "SIEVE is
// simpler than LRU: an efficient turn-key eviction algorithm for web caches",
// NSDI 2024. A fifo that never moves anything; a hit sets a bit. The hand
// goes from the oldest to the newest and round again; it clears bits as it
// passes and takes the first item without one, then waits where that was.
type sieve[K comparable, V any] struct {
	list fifo[K, V]
	// invariant: hand is an item of the list, or nil: begin at the oldest.
	hand *item[K, V]
}

func (p *sieve[K, V]) admit(it *item[K, V]) {
	it.freq = 0
	p.list.push(it)
}

func (p *sieve[K, V]) hit(it *item[K, V]) { it.freq = 1 }

func (p *sieve[K, V]) remove(it *item[K, V]) {
	if p.hand == it {
		p.hand = it.newer
	}
	p.list.remove(it)
}

func (p *sieve[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		for left > 0 {
			if p.hand == nil {
				p.hand = p.list.oldest
			}
			it := p.hand
			p.hand = it.newer
			switch {
			case !it.eligible(class):
			case it.freq > 0:
				it.freq = 0
			default:
				p.list.remove(it)
				left--
				if !yield(it) {
					return
				}
			}
		}
	}
}

func (p *sieve[K, V]) order() iter.Seq[*item[K, V]] { return p.list.all() }

func (p *sieve[K, V]) save(s *Snapshot[K]) {
	at := 0
	for it := range p.list.all() {
		if it == p.hand {
			s.Hand = at
		}
		at++
	}
}

func (p *sieve[K, V]) restore(s *Snapshot[K], items []*item[K, V]) error {
	if s.Hand < -1 || s.Hand >= len(items) {
		return fmt.Errorf("%w: hand at %d of %d", ErrState, s.Hand, len(items))
	}
	p.list.refill(items)
	if s.Hand >= 0 {
		p.hand = items[s.Hand]
	}
	return nil
}
