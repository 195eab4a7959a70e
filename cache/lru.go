package cache

import "iter"

// lru evicts what was referenced longest ago. Least recently used
// replacement is in L. A. Belady, "A study of replacement algorithms for a
// virtual-storage computer", IBM Systems Journal 5(2), 1966; the stack
// property that its tests lean on is in R. L. Mattson, J. Gecsei, D. R. Slutz
// and I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM
// Systems Journal 9(2), 1970.
type lru[K comparable, V any] struct {
	list fifo[K, V]
}

func (p *lru[K, V]) admit(it *item[K, V])  { p.list.push(it) }
func (p *lru[K, V]) hit(it *item[K, V])    { p.list.renew(it) }
func (p *lru[K, V]) remove(it *item[K, V]) { p.list.remove(it) }

func (p *lru[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		at := p.list.oldest
		for ; left > 0; left-- {
			for !at.eligible(class) {
				at = at.newer
			}
			it := at
			at = at.newer
			p.list.remove(it)
			if !yield(it) {
				return
			}
		}
	}
}

func (p *lru[K, V]) order() iter.Seq[*item[K, V]] { return p.list.all() }
func (p *lru[K, V]) save(*Snapshot[K])            {}

func (p *lru[K, V]) restore(_ *Snapshot[K], items []*item[K, V]) error {
	p.list.refill(items)
	return nil
}
