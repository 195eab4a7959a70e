package cache

import (
	"iter"
	"math"
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
// Scores change with every step, so there is no heap: a walk scans a flat
// table once for its first victim, and once more, into a heap of its own,
// only if there is to be a second.
type idleSize[K comparable, V any] struct {
	scale *scale
	// invariant: rows[i].it.slot == i and rows[i].last == rows[i].it.last
	rows []row[K, V]
}

type row[K comparable, V any] struct {
	last   uint64
	weight float64 // size^0.75
	it     *item[K, V]
}

func (p *idleSize[K, V]) admit(it *item[K, V]) {
	it.slot = len(p.rows)
	p.rows = append(p.rows, row[K, V]{it.last, weigh(it.size), it})
}

func weigh(size int64) float64 {
	root := math.Sqrt(float64(size))
	return float64(root * math.Sqrt(root))
}

func (p *idleSize[K, V]) hit(it *item[K, V]) { p.rows[it.slot].last = it.last }

func (p *idleSize[K, V]) remove(it *item[K, V]) {
	last := len(p.rows) - 1
	p.rows[it.slot] = p.rows[last]
	p.rows[it.slot].it.slot = it.slot
	p.rows[last] = row[K, V]{}
	p.rows = p.rows[:last]
}

func (p *idleSize[K, V]) score(r *row[K, V]) float64 {
	return float64(float64(p.scale.now-r.last) * r.weight)
}

func (p *idleSize[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		first := p.first(class)
		p.remove(first)
		if !yield(first) || left == 1 {
			return
		}
		for _, c := range p.ranking(class) {
			p.remove(c.it)
			if !yield(c.it) {
				return
			}
		}
	}
}

// first finds the next to leave. REQUIRES: one is eligible.
func (p *idleSize[K, V]) first(class Class) *item[K, V] {
	var best *item[K, V]
	most := -1.0
	for i := range p.rows {
		r := &p.rows[i]
		score := p.score(r)
		if score < most || !r.it.eligible(class) {
			continue
		}
		if score > most || r.it.seq < best.seq {
			best, most = r.it, score
		}
	}
	return best
}

type scored[K comparable, V any] struct {
	score float64
	it    *item[K, V]
}

// ranking lists all that are eligible, the next to leave first.
func (p *idleSize[K, V]) ranking(class Class) []scored[K, V] {
	all := make([]scored[K, V], 0, len(p.rows))
	for i := range p.rows {
		if r := &p.rows[i]; r.it.eligible(class) {
			all = append(all, scored[K, V]{p.score(r), r.it})
		}
	}
	slices.SortFunc(all, func(a, b scored[K, V]) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return bySeq(a.it, b.it)
	})
	return all
}

func (p *idleSize[K, V]) order() iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		all := make([]*item[K, V], len(p.rows))
		for i := range p.rows {
			all[i] = p.rows[i].it
		}
		yieldBySeq(all, yield)
	}
}

func (p *idleSize[K, V]) save(*Snapshot[K]) {}

func (p *idleSize[K, V]) restore(_ *Snapshot[K], items []*item[K, V]) error {
	for _, it := range items {
		p.admit(it)
	}
	return nil
}
