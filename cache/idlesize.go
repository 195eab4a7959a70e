package cache

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// idleSize evicts what has been idle for long and is large: the largest
// idle steps x size^0.75 first, the earliest admitted among equals. It is the
// default, chosen by measuring on genuine coding sessions; the product of
// idle time and a power of size goes back to A. J. Smith, "Long term file
// migration: development and evaluation of algorithms", Communications of the
// ACM 24(8), 1981, whose space-time product (with idle time to a power) is
// this one's relative.
//
// size^0.75 is computed as sqrt(size) x sqrt(sqrt(size)): square roots and
// single products are rounded exactly, so the order is the same everywhere,
// which math.Pow does not promise. The products are converted explicitly, so
// that none is fused with what follows.
//
// Scores change with every step, so there is no heap. Items stand in buckets
// of nearly equal size (each spans an eighth of a power of two), oldest
// reference first. In a bucket no item can score more than the idle time of
// the one before it times the largest weight that the bucket has had, so a
// search stops there as soon as that is below the best found: exact, and a few
// items a bucket instead of all. Pages that are all of one size are the best
// case: only the oldest are looked at.
type idleSize[K comparable, V any] struct {
	scale *scale
	// invariant: in each bucket, item.last does not fall from oldest to newest
	buckets [idleBuckets]idleBucket[K, V]
	used    [(idleBuckets + 63) / 64]uint64 // a bit for each bucket with items
}

type idleBucket[K comparable, V any] struct {
	fifo[K, V]
	heaviest float64 // at least the weight of each item; 0: there is none
}

const idleBuckets = 8 * 63

// bucketOf numbers the buckets by the length of the size in bits and the three
// bits that follow the first.
func bucketOf(size int64) int {
	n := bits.Len64(uint64(size))
	return 8*(n-1) + int(uint64(size)<<(64-n)>>60&7)
}

func weigh(size int64) float64 {
	root := math.Sqrt(float64(size))
	return float64(root * math.Sqrt(root))
}

func (p *idleSize[K, V]) admit(it *item[K, V]) {
	it.weight = weigh(it.size)
	n := bucketOf(it.size)
	b := &p.buckets[n]
	b.push(it)
	b.heaviest = max(b.heaviest, it.weight)
	p.used[n/64] |= 1 << (n % 64)
}

func (p *idleSize[K, V]) hit(it *item[K, V]) { p.buckets[bucketOf(it.size)].renew(it) }

func (p *idleSize[K, V]) remove(it *item[K, V]) {
	n := bucketOf(it.size)
	b := &p.buckets[n]
	if b.remove(it); b.oldest == nil {
		b.heaviest = 0
		p.used[n/64] &^= 1 << (n % 64)
	}
}

// inUse yields the buckets with items.
func (p *idleSize[K, V]) inUse(yield func(*idleBucket[K, V]) bool) {
	for i, word := range p.used {
		for ; word != 0; word &= word - 1 {
			if !yield(&p.buckets[64*i+bits.TrailingZeros64(word)]) {
				return
			}
		}
	}
}

func (p *idleSize[K, V]) score(it *item[K, V], weight float64) float64 {
	return float64(float64(p.scale.now-it.last) * weight)
}

func (p *idleSize[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		for ; left > 0; left-- {
			it := p.victim(class)
			p.remove(it)
			if !yield(it) {
				return
			}
		}
	}
}

// victim finds the next to leave. REQUIRES: one is eligible.
func (p *idleSize[K, V]) victim(class Class) *item[K, V] {
	var best *item[K, V]
	most := -1.0
	consider := func(it *item[K, V]) {
		score := p.score(it, it.weight)
		if score < most || !it.eligible(class) {
			return
		}
		if score > most || it.seq < best.seq {
			best, most = it, score
		}
	}
	for b := range p.inUse { // a good bound first
		consider(b.oldest)
	}
	for b := range p.inUse {
		for it := b.oldest; it != nil && p.score(it, b.heaviest) >= most; it = it.newer {
			consider(it)
		}
	}
	return best
}

func (p *idleSize[K, V]) order() iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		var all []*item[K, V]
		for b := range p.buckets {
			all = slices.AppendSeq(all, p.buckets[b].all())
		}
		yieldBySeq(all, yield)
	}
}

func (p *idleSize[K, V]) save(*Snapshot[K]) {}

func (p *idleSize[K, V]) restore(_ *Snapshot[K], items []*item[K, V]) error {
	byLast := slices.Clone(items)
	slices.SortFunc(byLast, func(a, b *item[K, V]) int { return cmp.Compare(a.last, b.last) })
	for _, it := range byLast {
		p.admit(it)
	}
	return nil
}
