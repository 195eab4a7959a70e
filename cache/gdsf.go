package cache

import (
	"fmt"
	"iter"
	"math"
)

// gdsf is Greedy-Dual-Size-Frequency: L. Cherkasova, "Improving WWW proxies
// performance with Greedy-Dual-Size-Frequency caching policy", HP Labs report
// HPL-98-69R1, 1998, after P. Cao and S. Irani, "Cost-aware WWW proxy caching
// algorithms", USITS 1997. The item with the least H = L + references / size
// leaves first, and L rises to its H, so that what is not referenced ages.
// Every fault costs the same here (the hit-ratio variant), ties go to what
// was referenced longest ago, and only Normal items move L: a Doomed one
// leaves for another reason than its H.
//
// H is computed by one division and one addition, both rounded exactly, and
// so is the same everywhere; there is no product to fuse.
//
// The heap is lazy: a hit only raises an item's H, which the heap learns of
// when the item comes to its top.
type gdsf[K comparable, V any] struct {
	floor float64 // L
	refs  uint64
	// invariant: a heap by (rank, stamp), neither above those of its item;
	// heap[i].it.slot == i
	heap []ranked[K, V]
}

type ranked[K comparable, V any] struct {
	rank  float64
	stamp uint64
	it    *item[K, V]
}

func (a *ranked[K, V]) less(b *ranked[K, V]) bool {
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	return a.stamp < b.stamp
}

// gdsfScale keeps H readable; it is the 1e6 of libCacheSim's GDSF.
const gdsfScale = 1e6

func (p *gdsf[K, V]) admit(it *item[K, V]) {
	it.freq = 0
	p.hit(it)
	p.insert(it)
}

func (p *gdsf[K, V]) hit(it *item[K, V]) {
	if it.freq < math.MaxUint32 {
		it.freq++
	}
	p.refs++
	it.stamp = p.refs
	it.priority = p.floor + float64(float64(it.freq)*gdsfScale)/float64(it.size)
}

func (p *gdsf[K, V]) insert(it *item[K, V]) {
	it.slot = len(p.heap)
	p.heap = append(p.heap, ranked[K, V]{it.priority, it.stamp, it})
	p.up(it.slot)
}

func (p *gdsf[K, V]) remove(it *item[K, V]) {
	i, last := it.slot, len(p.heap)-1
	p.put(i, p.heap[last])
	p.heap[last] = ranked[K, V]{}
	p.heap = p.heap[:last]
	if i < last {
		p.down(i)
		p.up(i)
	}
}

func (p *gdsf[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		var passed []*item[K, V]
		defer func() {
			for _, it := range passed {
				p.insert(it)
			}
		}()
		for left > 0 {
			it := p.least()
			p.remove(it)
			if !it.eligible(class) {
				passed = append(passed, it)
				continue
			}
			if class == Normal {
				p.floor = max(p.floor, it.priority)
			}
			if left--; !yield(it) {
				return
			}
		}
	}
}

// least brings the true minimum to the top.
func (p *gdsf[K, V]) least() *item[K, V] {
	for {
		top := &p.heap[0]
		if top.stamp == top.it.stamp {
			return top.it
		}
		top.rank, top.stamp = top.it.priority, top.it.stamp
		p.down(0)
	}
}

func (p *gdsf[K, V]) put(i int, r ranked[K, V]) {
	p.heap[i] = r
	r.it.slot = i
}

func (p *gdsf[K, V]) up(i int) {
	r := p.heap[i]
	for i > 0 && r.less(&p.heap[(i-1)/2]) {
		p.put(i, p.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	p.put(i, r)
}

func (p *gdsf[K, V]) down(i int) {
	r := p.heap[i]
	for {
		child := 2*i + 1
		if child+1 < len(p.heap) && p.heap[child+1].less(&p.heap[child]) {
			child++
		}
		if child >= len(p.heap) || !p.heap[child].less(&r) {
			break
		}
		p.put(i, p.heap[child])
		i = child
	}
	p.put(i, r)
}

func (p *gdsf[K, V]) order() iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		all := make([]*item[K, V], len(p.heap))
		for i := range p.heap {
			all[i] = p.heap[i].it
		}
		yieldBySeq(all, yield)
	}
}

func (p *gdsf[K, V]) save(s *Snapshot[K]) { s.Floor, s.Refs = p.floor, p.refs }

func (p *gdsf[K, V]) restore(s *Snapshot[K], items []*item[K, V]) error {
	p.floor, p.refs = s.Floor, s.Refs
	if !(p.floor >= 0) {
		return fmt.Errorf("%w: floor %v", ErrState, p.floor)
	}
	stamps := make(map[uint64]bool, len(items))
	for i, it := range items {
		if !(it.priority >= 0) || it.stamp > p.refs || stamps[it.stamp] {
			return fmt.Errorf("%w: item %d has rank %v, stamp %d", ErrState, i, it.priority, it.stamp)
		}
		stamps[it.stamp] = true
		p.insert(it)
	}
	return nil
}
