package replay

import (
	"container/heap"
	"context"
	"math"
	"math/bits"

	"ctxdb/cache"
)

// Belady replays a trace as somebody would who knows it to its end: evict what
// has the largest size x time until its next use, one at a time, beginning with
// what is never used again. Options.Policy, LowWatermark and superseded copies
// play no part. It is a heuristic, good but not optimal where sizes differ:
// nothing below LowerBound is possible, and Belady may be above it.
//
// Source: L. A. Belady, "A study of replacement algorithms for a virtual-storage
// computer", IBM Systems Journal 5(2), 1966; weighted by size as libCacheSim's
// BeladySize does, but exact, where that one samples.
func Belady(ctx context.Context, t *Trace, o Options) (Run, error) {
	o.Policy, o.LowWatermark, o.KeepSuperseded = cache.LRU, 1, true
	s, err := newSimulation(t, o)
	if err != nil {
		return Run{}, err
	}
	s.run.Options.Policy = "belady-size"
	oracle := newOracle(s.o.Budget, &s.run.Recalls, s.ledger.leave)
	s.store = oracle
	oracle.foresee(t, s.paging)
	return s.over(ctx, t)
}

const never = math.MaxInt64

// oracle is a store that knows the future.
type oracle struct {
	budget int64
	gone   func(page)
	now    *int64 // number of the recall at hand: the simulation's count
	future map[page][]int64
	pages  map[page]*known
	// invariant: holds the residents that are not guarded, by size
	buckets [4 * 64]byNext
	guarded map[page]*known
	made    int64
	counts  cache.Stats
}

// known is a resident whose next use is known.
type known struct {
	page page
	size int64
	next int64 // number of the recall, or never
	made int64 // order of admission
	slot int   // in its bucket
}

// byNext is a heap, the latest next use on top.
type byNext []*known

func (h byNext) Len() int           { return len(h) }
func (h byNext) Less(i, j int) bool { return h[i].next > h[j].next }
func (h byNext) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i, j
}
func (h *byNext) Push(x any) {
	k := x.(*known)
	k.slot = len(*h)
	*h = append(*h, k)
}
func (h *byNext) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newOracle(budget int64, now *int64, gone func(page)) *oracle {
	return &oracle{
		budget: budget, now: now, gone: gone,
		future: make(map[page][]int64), pages: make(map[page]*known), guarded: make(map[page]*known),
	}
}

// foresee notes when each page is needed. A simulation counts its recalls in the
// same order.
func (o *oracle) foresee(t *Trace, g paging) {
	var now int64
	for i := range t.Refs {
		r := &t.Refs[i]
		if !r.Kind.IsRecall() {
			continue
		}
		now++
		first, end := g.needed(r)
		for part := first; part < end; part++ {
			p := page{r.Item, part}
			o.future[p] = append(o.future[p], now)
		}
	}
}

// next returns the number of the recall after the one at hand that needs p.
func (o *oracle) next(p page) int64 {
	all := o.future[p]
	for len(all) > 0 && all[0] <= *o.now {
		all = all[1:]
	}
	o.future[p] = all
	if len(all) == 0 {
		return never
	}
	return all[0]
}

// bucket is that of sizes within a quarter of a power of two.
func (o *oracle) bucket(size int64) *byNext {
	n := bits.Len64(uint64(size) | 1)
	return &o.buckets[4*(n-1)+int(uint64(size)<<(64-n)>>61&3)]
}

func (o *oracle) tick() {}

func (o *oracle) resident(p page) bool { return o.pages[p] != nil }

func (o *oracle) load(p page, cost int64) (bool, error) {
	if k := o.pages[p]; k != nil {
		k.next = o.next(p)
		if o.guarded[p] == nil {
			heap.Fix(o.bucket(k.size), k.slot)
		}
		return true, nil
	}
	if o.counts.Charged.Tokens+cost > o.budget {
		o.counts.Batches++
	}
	for o.counts.Charged.Tokens+cost > o.budget {
		o.evict(o.victim())
	}
	o.made++
	k := &known{page: p, size: cost, next: o.next(p), made: o.made}
	o.pages[p] = k
	heap.Push(o.bucket(cost), k)
	o.counts.Charged.Tokens += cost
	o.counts.Peak.Tokens = max(o.counts.Peak.Tokens, o.counts.Charged.Tokens)
	return false, nil
}

func (o *oracle) setClass(p page, class cache.Class) {
	k := o.pages[p]
	if k == nil || (class == cache.Guarded) == (o.guarded[p] != nil) {
		return
	}
	if class == cache.Guarded {
		heap.Remove(o.bucket(k.size), k.slot)
		o.guarded[p] = k
		return
	}
	delete(o.guarded, p)
	heap.Push(o.bucket(k.size), k)
}

func (o *oracle) stats() cache.Stats { return o.counts }

func (o *oracle) evict(k *known) {
	if o.guarded[k.page] != nil {
		delete(o.guarded, k.page)
	} else {
		heap.Remove(o.bucket(k.size), k.slot)
	}
	delete(o.pages, k.page)
	o.counts.Charged.Tokens -= k.size
	o.counts.Evicted.Tokens += k.size
	o.counts.Evictions++
	o.gone(k.page)
}

// worse reports whether a should leave before b.
func (o *oracle) worse(a, b *known) bool {
	if b == nil {
		return true
	}
	if sa, sb := o.score(a, a.size), o.score(b, b.size); sa != sb {
		return sa > sb
	}
	return a.made < b.made
}

func (o *oracle) score(k *known, size int64) float64 {
	if k.next == never {
		return math.Inf(1)
	}
	return float64(float64(k.next-*o.now) * float64(max(size, 1)))
}

// victim finds what is to leave next: of what is not guarded if there is any.
// REQUIRES: something is resident.
func (o *oracle) victim() *known {
	var worst *known
	for b := range o.buckets {
		h := o.buckets[b]
		if len(h) == 0 {
			continue
		}
		heaviest := int64(5+b%4)<<(b/4)>>2 + 1
		worst = o.search(h, 0, heaviest, worst)
	}
	if worst != nil {
		return worst
	}
	for _, k := range o.guarded { // the order of the map decides nothing: worse is a total order
		if o.worse(k, worst) {
			worst = k
		}
	}
	return worst
}

// search walks a heap from slot i down, as long as the largest size of its
// bucket could still make the worst.
func (o *oracle) search(h byNext, i int, heaviest int64, worst *known) *known {
	if i >= len(h) || worst != nil && o.score(h[i], heaviest) < o.score(worst, worst.size) {
		return worst
	}
	if o.worse(h[i], worst) {
		worst = h[i]
	}
	if h[i].next == never {
		return worst
	}
	worst = o.search(h, 2*i+1, heaviest, worst)
	return o.search(h, 2*i+2, heaviest, worst)
}
