package cache

import (
	"fmt"
	"iter"
)

// s3fifo is J. Yang, Y. Zhang, Z. Qiu, Y. Yue and K. V. Rashmi, "FIFO queues are
// all you need for cache eviction", SOSP 2023. A small fifo of a tenth of the
// budget takes in what is new; what was referenced twice or more there moves
// to the main fifo, the rest leaves, and its keys stay for a while as ghosts.
// A ghost that faults enters the main fifo at once. The main fifo gives
// another round for each of up to three references.
//
// The variant is the paper's: a new item enters the small fifo however full
// that is, and ghosts are consulted after room was made. Sizes count in the
// budgeted dimension, and the ghosts' sizes sum to at most nine tenths of the
// budget. An item at least as large as the whole small fifo, which the
// authors' simulator does not admit, goes to the main one, because a fault
// must be served.
type s3fifo[K comparable, V any] struct {
	small, main fifo[K, V]
	smallLimit  int64
	mainLimit   int64
	ghosts      ghosts[K]
}

const (
	inSmall uint8 = iota
	inMain
)

func newS3FIFO[K comparable, V any](limit int64) *s3fifo[K, V] {
	small := limit / 10
	return &s3fifo[K, V]{
		smallLimit: small, mainLimit: limit - small,
		ghosts: ghosts[K]{limit: limit - small, at: make(map[K]*ghost[K])},
	}
}

func (p *s3fifo[K, V]) queue(it *item[K, V]) *fifo[K, V] {
	if it.queue == inMain {
		return &p.main
	}
	return &p.small
}

func (p *s3fifo[K, V]) admit(it *item[K, V]) {
	it.freq, it.queue = 0, inSmall
	if p.ghosts.take(it.key) || it.size >= p.smallLimit {
		it.queue = inMain
	}
	p.queue(it).push(it)
}

func (p *s3fifo[K, V]) hit(it *item[K, V])    { it.freq = min(it.freq+1, 3) }
func (p *s3fifo[K, V]) remove(it *item[K, V]) { p.queue(it).remove(it) }

func (p *s3fifo[K, V]) victims(class Class, left int) iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		for ; left > 0; left-- {
			if !yield(p.victim(class)) {
				return
			}
		}
	}
}

// victim takes the next to leave. REQUIRES: one is eligible. A walk through
// the small fifo that finds none has promoted all, so the main one has some.
func (p *s3fifo[K, V]) victim(class Class) *item[K, V] {
	if p.main.size > p.mainLimit {
		if it := p.fromMain(class); it != nil {
			return it
		}
	}
	if it := p.fromSmall(class); it != nil {
		return it
	}
	return p.fromMain(class)
}

func (p *s3fifo[K, V]) fromSmall(class Class) *item[K, V] {
	for it := p.small.oldest; it != nil; {
		next := it.newer
		if it.eligible(class) {
			p.small.remove(it)
			if it.freq < 2 {
				p.ghosts.add(it.key, it.size)
				return it
			}
			it.freq, it.queue = 0, inMain
			p.main.push(it)
		}
		it = next
	}
	return nil
}

// fromMain takes the first eligible item without references left, or nil if
// none is eligible. Three rounds use up all references.
func (p *s3fifo[K, V]) fromMain(class Class) *item[K, V] {
	for again := true; again; {
		again = false
		last := p.main.newest
		for it := p.main.oldest; it != nil; {
			next := it.newer
			if it.eligible(class) {
				if it.freq == 0 {
					p.main.remove(it)
					return it
				}
				it.freq--
				p.main.renew(it)
				again = true
			}
			if it == last {
				break
			}
			it = next
		}
	}
	return nil
}

func (p *s3fifo[K, V]) order() iter.Seq[*item[K, V]] {
	return func(yield func(*item[K, V]) bool) {
		for it := range p.small.all() {
			if !yield(it) {
				return
			}
		}
		p.main.all()(yield)
	}
}

func (p *s3fifo[K, V]) save(s *Snapshot[K]) {
	for g := p.ghosts.oldest; g != nil; g = g.newer {
		s.Ghosts = append(s.Ghosts, GhostState[K]{g.key, g.size})
	}
}

func (p *s3fifo[K, V]) restore(s *Snapshot[K], items []*item[K, V]) error {
	for i, it := range items {
		if it.queue > inMain || it.freq > 3 {
			return fmt.Errorf("%w: item %d in fifo %d with %d references", ErrState, i, it.queue, it.freq)
		}
		p.queue(it).push(it)
	}
	for i, g := range s.Ghosts {
		if g.Size < 1 || p.ghosts.at[g.Key] != nil {
			return fmt.Errorf("%w: ghost %d", ErrState, i)
		}
		p.ghosts.add(g.Key, g.Size)
	}
	return nil
}
