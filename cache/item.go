package cache

import (
	"cmp"
	"iter"
	"slices"
)

// item is a resident. The fields below the line belong to the policy.
type item[K comparable, V any] struct {
	key   K
	val   V
	cost  Cost
	seq   uint64 // order of admission, unique; the last tie-break everywhere
	last  uint64 // the step of the latest reference
	size  int64  // tokens if there is a token budget, else bytes; at least 1
	pins  int
	class Class

	newer, older *item[K, V] // neighbours in a fifo
	queue        uint8       // S3-FIFO: which fifo
	freq         uint32      // references seen, or the second-chance bit
	slot         int         // GDSF: index in the heap
	stamp        uint64      // GDSF: number of the latest reference
	priority     float64     // GDSF: the H value
	weight       float64     // idle-size: size^0.75
}

// eligible: may leave in a walk for this class.
func (it *item[K, V]) eligible(class Class) bool { return it.pins == 0 && it.class == class }

// fifo is a list of items threaded through themselves.
type fifo[K comparable, V any] struct {
	newest, oldest *item[K, V]
	// invariant: size is the sum of item.size over the list.
	size int64
}

// push makes it the newest.
func (f *fifo[K, V]) push(it *item[K, V]) {
	it.older, it.newer = f.newest, nil
	if f.newest != nil {
		f.newest.newer = it
	} else {
		f.oldest = it
	}
	f.newest = it
	f.size += it.size
}

func (f *fifo[K, V]) remove(it *item[K, V]) {
	if it.newer != nil {
		it.newer.older = it.older
	} else {
		f.newest = it.older
	}
	if it.older != nil {
		it.older.newer = it.newer
	} else {
		f.oldest = it.newer
	}
	it.newer, it.older = nil, nil
	f.size -= it.size
}

// renew makes an item of the list its newest.
func (f *fifo[K, V]) renew(it *item[K, V]) {
	if f.newest != it {
		f.remove(it)
		f.push(it)
	}
}

// all yields the items, oldest first.
func (f *fifo[K, V]) all() iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		for it := f.oldest; it != nil; it = it.newer {
			if !yield(it) {
				return
			}
		}
	}
}

// refill pushes a snapshot's items, which were written oldest first.
func (f *fifo[K, V]) refill(items []*item[K, V]) {
	for _, it := range items {
		f.push(it)
	}
}

func bySeq[K comparable, V any](a, b *item[K, V]) int { return cmp.Compare(a.seq, b.seq) }

// yieldBySeq sorts items by their admission and yields them.
func yieldBySeq[K comparable, V any](all []*item[K, V], yield func(*item[K, V]) bool) {
	slices.SortFunc(all, bySeq[K, V])
	for _, it := range all {
		if !yield(it) {
			return
		}
	}
}
