package engine

import (
	"errors"
	"maps"
	"slices"

	"ctxdb/cache"
)

// save takes the state between two faults.
func (w *Window) save(stamp uint64) []byte {
	w.faults.Lock()
	defer w.faults.Unlock()
	s := windowState{name: w.name, stamp: stamp, pageTokens: w.opts.PageTokens, seen: w.known.seen}
	w.mu.Lock()
	s.cache = w.cache.Snapshot()
	s.steps = w.steps
	for _, e := range w.gone.latest() {
		s.gone = append(s.gone, goneState{e.key, w.gone.m[e.key]})
	}
	w.mu.Unlock()
	s.pins = slices.Sorted(maps.Keys(w.pins))
	s.holds, s.recent = w.holds, w.known.recent
	for _, o := range w.known.order {
		s.origins = append(s.origins, originState{o, w.known.newest[o]})
	}
	return s.encode(nil)
}

// errOtherWindow: a state from which this window can't go on.
var errOtherWindow = errors.New("of another policy or page size")

// restore puts a state into an empty window: what no longer exists or can't be
// read is left out, and what this window's budget does not hold has left. Costs
// come first, then the cache evicts, and what stays is read: beside the budget,
// content is held of the turn being read, and until the end of turns of which a
// part stays.
// With an error the window is empty still.
func (w *Window) restore(s *windowState) error {
	w.faults.Lock()
	defer w.faults.Unlock()
	if s.cache.Policy != w.opts.Policy || s.pageTokens != w.opts.PageTokens {
		return errOtherWindow
	}
	turns := w.costResidents(s)
	named := s.setPins(turns)
	read := func(key pageKey) (struct{}, bool) { return struct{}{}, w.readSurvivor(turns, key, named[key.id()]) }
	err := w.cache.Restore(s.cache, read)
	if errors.Is(err, cache.ErrOverBudget) {
		s.pins, s.holds = nil, nil
		s.setPins(turns)
		w.db.log.Warn("what was pinned does not fit into a window; it is pinned no more", "window", w.name)
		err = w.cache.Restore(s.cache, read)
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.steps = s.steps
	for _, g := range s.gone {
		w.gone.add(g.key, g.cost, g.step)
		w.gone.m[g.key] = g.departure
	}
	w.mu.Unlock()
	w.known.restore(s)
	w.settleRestored(turns)
	w.restorePins(s)
	for _, key := range w.cache.Keys() { // other options than before may class them otherwise
		w.classify(key)
	}
	return nil
}

func (k *knowledge) restore(s *windowState) {
	k.seen = s.seen
	for _, o := range s.origins {
		k.learnOrigin(o.origin, o.newest)
	}
	recent := slices.Compact(slices.Sorted(slices.Values(s.recent)))
	k.recent = recent[max(0, len(recent)-k.keep):]
}

// costResidents finds every turn of which the state has a page, and corrects
// costs that are counted otherwise today. A turn must be read for that, mostly;
// its content is kept as long as all that is kept fits into the window.
func (w *Window) costResidents(s *windowState) map[TurnID]*resident {
	turns := map[TurnID]*resident{}
	var kept cache.Cost
	for i := range s.cache.Items {
		it := &s.cache.Items[i]
		r, tried := turns[it.Key.id()]
		if !tried {
			if r = w.costResident(it.Key.id()); r != nil && r.whole != nil {
				if fits(r.lay.cost, w.limit, kept) {
					kept = plus(kept, r.lay.cost)
				} else {
					r.whole = nil
				}
			}
			turns[it.Key.id()] = r
		}
		if r != nil && it.Key.part() < len(r.parts) {
			it.Cost = r.lay.pages[it.Key.part()].cost()
		}
	}
	for i := range s.holds {
		h := &s.holds[i]
		if r := turns[h.key.id()]; r != nil && h.key.part() < len(r.parts) {
			h.cost = r.lay.pages[h.key.part()].cost()
		}
	}
	return turns
}

// costResident is a turn with its content, where that had to be read; nil where
// there is none that can be read.
func (w *Window) costResident(id TurnID) *resident {
	l, t, err := w.layoutOf(id)
	if err != nil {
		return nil
	}
	return &resident{lay: l, parts: make([][]byte, len(l.pages)), whole: t}
}

// readSurvivor reads a page that stays, with its turn where the state named all
// of it: named pages. It reports whether that is there and can be read.
func (w *Window) readSurvivor(turns map[TurnID]*resident, key pageKey, named int) bool {
	r := turns[key.id()]
	switch {
	case r == nil || key.part() >= len(r.parts):
		return false
	case r.whole != nil:
		return true
	case named == len(r.parts):
		t, err := w.db.Get(key.id())
		if err != nil {
			turns[key.id()] = nil // for its other pages too
			return false
		}
		r.whole = &t
		return true
	}
	var b []byte
	err := w.db.do(func(v *view) (err error) {
		b, err = v.page(uint64(key.id()), &r.lay.pages[key.part()])
		return err
	})
	r.parts[key.part()] = b
	return err == nil
}

// setPins derives the pins of the items from who is pinned and held. It returns
// how many pages of each turn are named.
func (s *windowState) setPins(turns map[TurnID]*resident) (here map[TurnID]int) {
	here = map[TurnID]int{}
	counted := map[pageKey]bool{}
	for _, it := range s.cache.Items { // a page that is no more, or is named twice, is none of its turn's
		r := turns[it.Key.id()]
		if r != nil && it.Key.part() < len(r.parts) && !counted[it.Key] {
			here[it.Key.id()]++
			counted[it.Key] = true
		}
	}
	whole := func(id TurnID) bool { return turns[id] != nil && here[id] == len(turns[id].parts) }
	s.pins = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(s.pins))), func(id TurnID) bool { return !whole(id) })
	pinned := map[TurnID]bool{}
	for _, id := range s.pins {
		pinned[id] = true
	}
	held := map[pageKey]bool{}
	s.holds = slices.DeleteFunc(slices.Clone(s.holds), func(h hold) bool {
		gone := held[h.key] || here[h.key.id()] == 0
		held[h.key] = true
		return gone
	})
	for i := range s.cache.Items {
		it := &s.cache.Items[i]
		it.Pins = 0
		if pinned[it.Key.id()] {
			it.Pins++
		}
		if held[it.Key] {
			it.Pins++
		}
	}
	return here
}

// settleRestored notes the pages that the cache has now, with their bytes.
func (w *Window) settleRestored(turns map[TurnID]*resident) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range w.cache.Keys() {
		r := turns[key.id()]
		if w.turns[key.id()] == nil {
			w.turns[key.id()] = r
			if r.lay.call != 0 {
				w.results[r.lay.call] = append(w.results[r.lay.call], key.id())
			}
		}
		if r.whole != nil {
			p := r.lay.pages[key.part()]
			r.parts[key.part()] = r.whole.Content[p.start:p.end:p.end]
		}
		if r.parts[key.part()] == nil {
			r.parts[key.part()] = []byte{}
		}
		r.here++
	}
	for _, r := range w.turns {
		if r.here == len(r.parts) || r.whole == nil {
			continue
		}
		r.whole = nil
		for i, b := range r.parts {
			if b != nil {
				r.parts[i] = append(make([]byte, 0, len(b)), b...)
			}
		}
	}
}

// restorePins notes who is pinned. REQUIRES: the cache has their pins.
func (w *Window) restorePins(s *windowState) {
	for _, id := range s.pins {
		if w.turns[id] == nil {
			continue // it could not be read
		}
		w.pins[id] = true
		w.pinned = plus(w.pinned, w.turns[id].lay.cost)
	}
	for _, h := range s.holds {
		if r := w.turns[h.key.id()]; r != nil && h.key.part() < len(r.parts) && r.parts[h.key.part()] != nil {
			w.holds = append(w.holds, h)
		}
	}
}
