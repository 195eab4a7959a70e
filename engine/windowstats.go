package engine

import (
	"ctxdb/cache"
)

// WindowStats counts what a window did since it was opened. A reference is a
// Get, View or Page; it faults where any part of what it wants is cold.
type WindowStats struct {
	Refs, Hits, Faults int64
	Evictions          int64 // pages that left for want of room
	Batches            int64 // times that something had to leave
	FaultTokens        int64 // brought by faults, calls that came along included
	CallPages          int64 // pages of calls that came along with their results
	DoomedEvicted      int64 // superseded copies among the evictions
	Turns, Pages       int   // resident now; a turn counts when one of its pages is
	Tokens, Bytes      int64 // charged now
	PeakTokens         int64
	PeakBytes          int64
	PinnedTokens       int64 // by Pin and by faults
	PinnedBytes        int64
	FaultPins          int // pages pinned by faults now
	Layouts            int // turns whose pages are known without reading them

	Thrashing             bool // the working set is larger than the window
	Episodes              int  // times that it began to thrash
	SuggestedBudgetTokens int  // the smallest that would end it; 0: it does not thrash, there is no such budget, or too little is known
	SuggestedBudgetBytes  int64
	PagingPays            bool
	Reason                string // why paging pays here, or does not, in plain words
}

// Stats returns the window's counters and charge. It waits for a fault under
// way.
func (w *Window) Stats() WindowStats {
	w.faults.Lock()
	defer w.faults.Unlock()
	c := w.cache.Stats()
	w.mu.Lock()
	s := WindowStats{
		Refs: w.counts.refs, Hits: w.counts.hits, Faults: w.counts.faults,
		Evictions: c.Evictions + w.counts.cascaded, Batches: c.Batches, FaultTokens: w.counts.faultTokens,
		CallPages: w.counts.callPages, DoomedEvicted: w.counts.doomed, Turns: len(w.turns), Pages: c.Items,
		Tokens: c.Charged.Tokens, Bytes: c.Charged.Bytes, PeakTokens: c.Peak.Tokens, PeakBytes: c.Peak.Bytes,
		PinnedTokens: c.Pinned.Tokens, PinnedBytes: c.Pinned.Bytes, FaultPins: len(w.holds), Layouts: len(w.layouts.m),
		Thrashing: w.local.thrash, Episodes: w.local.episodes,
	}
	s.PagingPays, s.Reason = w.verdict(s.Evictions)
	refs := w.local.recent()
	w.mu.Unlock()
	if s.Thrashing {
		s.SuggestedBudgetTokens, s.SuggestedBudgetBytes = w.suggest(refs)
	}
	return s
}

// Charge is what is charged now and what was charged at most, without waiting
// for a fault under way.
func (w *Window) Charge() (now, peak cache.Cost) {
	c := w.cache.Stats()
	return c.Charged, c.Peak
}

// Resident lists the turns of which at least one page is resident, in the order
// in which they came.
func (w *Window) Resident() []TurnID {
	keys := w.cache.Keys()
	ids := make([]TurnID, 0, len(keys))
	seen := make(map[TurnID]bool, len(keys))
	for _, key := range keys {
		if id := key.id(); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// ResidentPage is a page of a window and why it is there.
type ResidentPage struct {
	Page
	Bytes     int
	Pinned    bool        // by Pin
	FaultPin  bool        // for a while
	Class     cache.Class // who leaves before whom
	Recent    bool        // one of the newest turns of the file
	OldCopy   bool        // a newer copy of the same file is known
	AnswersTo TurnID      // the call that a tool result answers; 0: none
}

// Pages lists the resident pages in the order in which they came. It references
// nothing. The contents are shared with the window and must not be changed.
func (w *Window) Pages() []ResidentPage {
	w.faults.Lock()
	defer w.faults.Unlock()
	w.learn()
	keys := w.cache.Keys()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]ResidentPage, 0, len(keys))
	for _, key := range keys {
		r := w.turns[key.id()]
		all = append(all, ResidentPage{
			Page: r.page(key.part()), Bytes: len(r.parts[key.part()]), Pinned: w.pins[key.id()], FaultPin: w.isHeld(key),
			Class: w.classOf(key), Recent: w.known.isRecent(key.id()), OldCopy: w.known.superseded(r.lay), AnswersTo: r.lay.call.id(),
		})
	}
	return all
}

// Departure is a page that was evicted.
type Departure struct {
	ID        TurnID
	Part      int
	Tokens    int
	Bytes     int64
	Reference uint64 // the one that it left for, by number, over all the window's lives
}

// Evicted lists the pages that were evicted and are cold now, the latest
// first, as far as the window remembers; at most limit, 0: all.
func (w *Window) Evicted(limit int) (all []Departure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	order := w.gone.latest()
	for i := len(order) - 1; i >= 0 && (limit <= 0 || len(all) < limit); i-- {
		key := order[i].key
		if r := w.turns[key.id()]; r != nil && r.parts[key.part()] != nil {
			continue
		}
		d := w.gone.m[key]
		all = append(all, Departure{ID: key.id(), Part: key.part(), Tokens: int(d.cost.Tokens), Bytes: d.cost.Bytes, Reference: d.step})
	}
	return all
}

// Layout tells how a turn is cut: the tokens of each of its pages. At the first
// touch the turn is read for it. It references nothing and changes nobody's
// residency.
func (w *Window) Layout(id TurnID) ([]int, error) {
	w.faults.Lock()
	defer w.faults.Unlock()
	if w.db.closed.Load() {
		return nil, w.err(ErrClosed)
	}
	l, _, err := w.layoutOf(id)
	if err != nil {
		return nil, w.err(err)
	}
	tokens := make([]int, len(l.pages))
	for i := range l.pages {
		tokens[i] = int(l.pages[i].tokens)
	}
	return tokens, nil
}
