package rank

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// partsEach: another goroutine is worth its while for that many parts.
const partsEach = 16

// each calls f for 0 <= i < n, in this order, until it wants no more or fails. Where
// n is large several goroutines do it, each with a searcher of its own, whose best
// are among those of s afterwards. The error is that of the lowest i.
func (s *searcher) each(n int, f func(s *searcher, i int) (more bool, err error)) (at int, err error) {
	w := round{n: n, f: f, at: n}
	var helpers []*searcher
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/partsEach) - 1 {
		h := searchers.Get().(*searcher)
		h.question = s.question
		h.best.reset(s.best.k)
		helpers = append(helpers, h)
		wait.Go(func() { w.work(h) })
	}
	w.work(s)
	wait.Wait()
	for _, h := range helpers {
		for _, hit := range h.best.heap {
			if s.best.admits(hit) {
				s.best.add(hit)
			}
		}
		h.question = nil
		searchers.Put(h)
	}
	return w.at, w.err
}

// round is one call of each.
type round struct {
	n    int
	f    func(s *searcher, i int) (more bool, err error)
	next atomic.Int64
	over atomic.Bool

	mu  sync.Mutex
	at  int // of err; n: there is none
	err error
}

// work does what is next until nothing is. What comes before an i that fails was
// begun before it, and is finished.
func (w *round) work(s *searcher) {
	for !w.over.Load() {
		i := int(w.next.Add(1)) - 1
		if i >= w.n {
			return
		}
		more, err := w.f(s, i)
		if err != nil {
			clear(s.scores)
			clear(s.counts)
			w.fail(i, err)
		}
		if err != nil || !more {
			w.over.Store(true)
		}
	}
}

func (w *round) fail(i int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i < w.at {
		w.at, w.err = i, err
	}
}

// floor is the highest score that the worst of the best of any searcher has: what
// scores less is not among the best of all.
type floor struct{ bits atomic.Uint64 }

func (f *floor) reset() { f.bits.Store(0) }

func (f *floor) get() float64 { return math.Float64frombits(f.bits.Load()) }

// raise makes it score, unless it is higher.
//
// REQUIRES: score >= 0, whose bits are ordered as the numbers are.
func (f *floor) raise(score float64) {
	for {
		old := f.bits.Load()
		if math.Float64frombits(old) >= score || f.bits.CompareAndSwap(old, math.Float64bits(score)) {
			return
		}
	}
}

// worst is what a turn must score to be among the best, as far as it is known; 0:
// it is not.
func (s *searcher) worst() float64 {
	if s.best.full() {
		return max(s.best.heap[0].Score, s.floor.get())
	}
	return s.floor.get()
}
