package cache

import "iter"

// clock is the second-chance approximation of LRU: F. J. Corbató, "A paging
// experiment with the Multics system", MIT Project MAC report MAC-M-384, 1968.
// One reference bit an item; a hit sets it and moves nothing. The hand looks
// at the oldest item: with the bit set it is cleared and goes round again as
// the newest, else it leaves. An item is admitted with the bit clear.
type clock[K comparable, V any] struct {
	list fifo[K, V]
}

func (p *clock[K, V]) admit(it *item[K, V]) {
	it.freq = 0
	p.list.push(it)
}

func (p *clock[K, V]) hit(it *item[K, V])    { it.freq = 1 }
func (p *clock[K, V]) remove(it *item[K, V]) { p.list.remove(it) }

func (p *clock[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		at := p.list.oldest
		for left > 0 {
			if at == nil { // all were given their chance: once more round
				at = p.list.oldest
			}
			it := at
			at = at.newer
			switch {
			case !it.eligible(class):
			case it.freq > 0:
				it.freq = 0
				p.list.renew(it)
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

func (p *clock[K, V]) order() iter.Seq[*item[K, V]] { return p.list.all() }
func (p *clock[K, V]) save(*Snapshot[K])            {}

func (p *clock[K, V]) restore(_ *Snapshot[K], items []*item[K, V]) error {
	p.list.refill(items)
	return nil
}
