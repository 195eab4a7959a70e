package engine

import (
	"slices"

	"ctxdb/cache"
)

// Pin makes all of a turn resident, if it is not, and keeps it from being
// evicted until Unpin. Its cost counts. What had to be loaded for it counts as
// a reference that faulted; pinning what is resident is none. ErrOverBudget: it
// does not fit beside what is pinned; nothing changed. Pinning twice is pinning
// once.
func (w *Window) Pin(id TurnID) error {
	if w.db.closed.Load() {
		return w.err(ErrClosed)
	}
	for !w.pinResident(id) {
		if _, err := w.bring(wish{id: id, part: allParts, pin: true}); err != nil {
			return w.err(err)
		}
	}
	return nil
}

// pinResident pins a turn of which all is resident, and reports whether it is
// pinned now.
func (w *Window) pinResident(id TurnID) bool {
	w.faults.Lock()
	defer w.faults.Unlock()
	if w.pins[id] {
		return true
	}
	w.mu.Lock()
	r := w.turns[id]
	w.mu.Unlock()
	if r == nil || r.here < len(r.parts) {
		return false
	}
	w.fasten(r.lay)
	return true
}

// fasten pins a turn of which all is resident. REQUIRES: faults.
func (w *Window) fasten(l *layout) {
	for i := range l.pages {
		_ = w.cache.Pin(makePageKey(l.id, i)) // it is resident
	}
	w.pins[l.id] = true
	w.pinned = plus(w.pinned, l.cost)
	if l.call != 0 {
		w.classify(l.call)
	}
	w.noteTurn(TracePin, l)
}

// Unpin lets a turn be evicted again.
func (w *Window) Unpin(id TurnID) {
	w.faults.Lock()
	defer w.faults.Unlock()
	w.unfasten(id)
}

func (w *Window) unfasten(id TurnID) {
	if !w.pins[id] {
		return
	}
	w.mu.Lock()
	l := w.turns[id].lay
	w.mu.Unlock()
	for i := range l.pages {
		w.cache.Unpin(makePageKey(id, i))
	}
	delete(w.pins, id)
	w.pinned = minus(w.pinned, l.cost)
	if l.call != 0 {
		w.classify(l.call)
	}
	w.noteTurn(TraceUnpin, l)
}

// Release drops a turn from the window, pinned or not, and the tool results
// that answer it, unless they are pinned. They are cold then.
func (w *Window) Release(id TurnID) {
	w.faults.Lock()
	defer w.faults.Unlock()
	w.unfasten(id)
	w.dropTurn(id, false)
	w.dropOrphans(0)
	w.compact()
}

func (w *Window) noteTurn(kind TraceKind, l *layout) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record(traceRecord{kind: kind, id: l.id, part: allParts, tokens: l.cost.Tokens, bytes: l.cost.Bytes})
}

// hold is a pin that a fault took, and that ends by itself.
type hold struct {
	key   pageKey
	cost  cache.Cost
	until uint64 // reference number
}

// firstHold is how many references the first fault pin of a page lasts; each
// further one lasts half as long, and after eight there are none: what comes
// back in spite of them has no place in a window of this size.
const firstHold = 128

// expireHolds ends the fault pins whose time is over. REQUIRES: faults.
func (w *Window) expireHolds() {
	w.mu.Lock()
	now := w.steps
	w.mu.Unlock()
	w.holds = slices.DeleteFunc(w.holds, func(h hold) bool {
		if h.until > now {
			return false
		}
		w.cache.Unpin(h.key)
		return true
	})
}

// yieldHolds ends fault pins, oldest first, until a fault has room beside the
// others.
func (w *Window) yieldHolds(f *fault) {
	for len(w.holds) > 0 && !fits(f.want, w.limit, plus(w.pinned, w.heldBeside(f))) {
		w.cache.Unpin(w.holds[0].key)
		w.holds = slices.Delete(w.holds, 0, 1)
	}
}

// heldBeside is the cost of what fault pins alone hold, beside what the fault
// wants.
func (w *Window) heldBeside(f *fault) (sum cache.Cost) {
	for _, h := range w.holds {
		if !w.pins[h.key.id()] && !f.wants(h.key) {
			sum = plus(sum, h.cost)
		}
	}
	return sum
}

func (w *Window) isHeld(key pageKey) bool {
	return slices.ContainsFunc(w.holds, func(h hold) bool { return h.key == key })
}

// takeHolds pins the pages that came back, while pins hold at most half of the
// budgets. REQUIRES: faults.
func (w *Window) takeHolds(f *fault) {
	half := cache.Cost{Tokens: w.limit.Tokens / 2, Bytes: w.limit.Bytes / 2}
	for _, i := range f.missing {
		key, cost := makePageKey(f.id, i), f.lay.pages[i].cost()
		w.mu.Lock()
		d, was := w.gone.m[key]
		n := uint32(firstHold)
		if d.held > 0 {
			n = d.held / 2
		}
		ok := was && n > 0 && fits(cost, half, plus(w.pinned, w.heldBeside(&fault{})))
		if ok {
			d.held = n
			w.gone.m[key] = d
		}
		until := w.steps + uint64(n)
		w.mu.Unlock()
		if ok {
			_ = w.cache.Pin(key) // it came just now
			w.holds = append(w.holds, hold{key: key, cost: cost, until: until})
		}
	}
}

// dropHold forgets the fault pin of a page that left. REQUIRES: faults.
func (w *Window) dropHold(key pageKey) {
	w.holds = slices.DeleteFunc(w.holds, func(h hold) bool { return h.key == key })
}

// departure is what is kept of a page that was evicted.
type departure struct {
	step uint64 // reference number
	cost cache.Cost
	held uint32 // references that its latest fault pin lasted
}

// goneTable remembers the pages that were evicted latest; some of them may be
// back.
//
// invariant: order lists the keys of m once each, oldest departure first,
// beside entries of others that are stale.
type goneTable struct {
	m     map[pageKey]departure
	order []goneEntry
}

type goneEntry struct {
	key  pageKey
	step uint64
}

func (g *goneTable) add(key pageKey, cost cache.Cost, step uint64) {
	g.m[key] = departure{step: step, cost: cost, held: g.m[key].held}
	g.order = append(g.order, goneEntry{key, step})
	for len(g.m) > maxGone || len(g.order) > 4*maxGone {
		first := g.order[0]
		g.order = g.order[1:]
		if d, ok := g.m[first.key]; ok && d.step == first.step {
			delete(g.m, first.key)
		}
	}
}

// latest lists the departures, oldest first.
func (g *goneTable) latest() (all []goneEntry) {
	seen := make(map[pageKey]bool, len(g.m))
	for _, e := range slices.Backward(g.order) {
		if d, ok := g.m[e.key]; ok && d.step == e.step && !seen[e.key] {
			seen[e.key] = true
			all = append(all, e)
		}
	}
	slices.Reverse(all)
	return all
}
