package engine

import (
	"context"
	"slices"

	"ctxdb/cache"
)

// admit makes what was read resident. There is room for it.
func (w *Window) admit(f *fault) error {
	for _, i := range f.missing {
		if err := w.enter(makePageKey(f.id, i), f.lay.pages[i].cost()); err != nil {
			return err
		}
	}
	if f.call != nil {
		if err := w.enter(f.lay.call, f.call.pages[0].cost()); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(f.lay, f.missing, f.parts, f.whole)
	if f.call != nil {
		w.settle(f.call, []int{0}, f.callIn, f.callAll)
		w.counts.callPages++
		w.counts.faultTokens += f.call.pages[0].tokens
	}
	return nil
}

func (w *Window) enter(key pageKey, cost cache.Cost) error {
	_, _, err := w.cache.Load(context.Background(), key, cost, func() (struct{}, error) { return struct{}{}, nil })
	return err
}

// settle notes pages that the cache has admitted. REQUIRES: mu.
func (w *Window) settle(l *layout, missing []int, parts [][]byte, whole *Turn) {
	r := w.turns[l.id]
	if r == nil {
		r = &resident{lay: l, parts: make([][]byte, len(l.pages))}
		w.turns[l.id] = r
		if l.call != 0 {
			w.results[l.call] = append(w.results[l.call], l.id)
		}
	}
	for n, i := range missing {
		r.parts[i] = parts[n]
		p := l.pages[i].cost()
		w.record(traceRecord{kind: TraceFault, id: l.id, part: int32(i), tokens: p.Tokens, bytes: p.Bytes})
	}
	if r.here += len(missing); r.here == len(l.pages) {
		r.unite(whole)
	}
}

// unite makes all parts of a turn parts of one content.
func (r *resident) unite(t *Turn) {
	r.whole = t
	for i := range r.parts {
		p := &r.lay.pages[i]
		r.parts[i] = t.Content[p.start:p.end:p.end]
		if r.parts[i] == nil {
			r.parts[i] = []byte{}
		}
	}
}

// finish pins and classes what came.
func (w *Window) finish(f *fault) outcome {
	for _, i := range f.missing {
		w.classify(makePageKey(f.id, i))
	}
	if f.lay.call != 0 {
		w.classify(f.lay.call)
	}
	if f.call != nil && f.call.call != 0 { // what came along is a result as well
		w.classify(f.call.call)
	}
	if w.opts.PinOnFault && !f.pin {
		w.takeHolds(f)
	}
	if f.pin {
		w.fasten(f.lay)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turns[f.id].outcome(f.wish, false)
}

// left is told of each page that left the cache.
func (w *Window) left(key pageKey, _ struct{}, cost cache.Cost, why cache.Reason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.turns[key.id()]
	r.parts[key.part()] = nil
	if r.whole != nil && len(r.parts) > 1 {
		w.torn = append(w.torn, key.id())
	}
	r.whole = nil
	if r.here--; r.here == 0 {
		w.forgetResident(r.lay)
		if r.lay.call != 0 {
			w.stale = append(w.stale, r.lay.call)
		}
	}
	if key.part() == 0 {
		w.orphans = append(w.orphans, w.results[key]...)
	}
	w.dropHold(key)
	what := traceRecord{kind: TraceRelease, id: key.id(), part: int32(key.part()), tokens: cost.Tokens, bytes: cost.Bytes}
	if why == cache.Evicted || w.cascade {
		what.kind = TraceEvict
		w.gone.add(key, cost, w.steps)
		if w.known.superseded(r.lay) {
			w.counts.doomed++
		}
	}
	if w.cascade {
		w.counts.cascaded++
	}
	w.record(what)
}

// forgetResident takes out a turn of which nothing is left. REQUIRES: mu.
func (w *Window) forgetResident(l *layout) {
	delete(w.turns, l.id)
	if l.call == 0 {
		return
	}
	rest := slices.DeleteFunc(w.results[l.call], func(id TurnID) bool { return id == l.id })
	if w.results[l.call] = rest; len(rest) == 0 {
		delete(w.results, l.call)
	}
}

// dropOrphans evicts results whose call has left. What is pinned stays, and
// what is being brought. REQUIRES: faults.
func (w *Window) dropOrphans(except TurnID) {
	for len(w.orphans) > 0 {
		id := w.orphans[0]
		w.orphans = w.orphans[1:]
		if id != except && !w.pins[id] {
			w.dropTurn(id, true)
		}
	}
}

// dropTurn drops every page of a turn, whatever its pins. REQUIRES: faults.
func (w *Window) dropTurn(id TurnID, evict bool) {
	w.mu.Lock()
	r := w.turns[id]
	w.mu.Unlock()
	if r == nil {
		return
	}
	w.cascade = evict
	for i := range r.lay.pages {
		w.cache.Drop(makePageKey(id, i))
	}
	w.cascade = false
}

// compact puts calls that lost a result into the class where they belong now,
// and gives pages memory of their own whose turn has lost others, so that they
// don't keep all of it. REQUIRES: faults.
func (w *Window) compact() {
	for _, key := range w.stale {
		w.classify(key)
	}
	w.stale = w.stale[:0]
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.torn {
		if r := w.turns[id]; r != nil && r.whole == nil {
			for i, b := range r.parts {
				if b != nil {
					r.parts[i] = append(make([]byte, 0, len(b)), b...)
				}
			}
		}
	}
	w.torn = w.torn[:0]
}

func plus(a, b cache.Cost) cache.Cost {
	return cache.Cost{Tokens: a.Tokens + b.Tokens, Bytes: a.Bytes + b.Bytes}
}

func minus(a, b cache.Cost) cache.Cost {
	return cache.Cost{Tokens: a.Tokens - b.Tokens, Bytes: a.Bytes - b.Bytes}
}

// fits reports whether a cost has room in a limit beside what is taken.
func fits(cost, limit, taken cache.Cost) bool {
	return cost.Tokens <= limit.Tokens-taken.Tokens && cost.Bytes <= limit.Bytes-taken.Bytes
}
