package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ctxdb/cache"
)

// fit renders what is resident, and evicts until that, with the index, is
// within the budgets as it is counted on the very text. REQUIRES: faults.
func (a *assembly) fit(ctx context.Context) error {
	handles, err := a.candidates(ctx)
	if err != nil {
		return err
	}
	for {
		p := &a.prompt
		p.Messages = a.collect()
		a.count()
		p.Index = nil
		if !a.short {
			a.fillIndex(handles)
		}
		over := a.excess()
		if over == (cache.Cost{}) {
			a.explain()
			return nil
		}
		if a.evict(over) {
			continue
		}
		if !a.tight { // what is wanted now comes before its index
			a.tight = true
			continue
		}
		if !a.give() {
			return fmt.Errorf("%w: what is pinned is %d tokens and bytes too long", ErrOverBudget, max(over.Tokens, over.Bytes))
		}
	}
}

// count counts each message, and measures the stable prefix.
func (a *assembly) count() {
	a.prompt.StablePrefixBytes = 0
	for i := range a.prompt.Messages {
		m := &a.prompt.Messages[i]
		text := m.text()
		m.Tokens = a.w.db.opts.Tokenizer([]byte(text))
		if m.Why == WhyPinned {
			a.prompt.StablePrefixBytes += len(text)
		}
	}
}

// excess is by how much the text exceeds the budgets.
func (a *assembly) excess() (over cache.Cost) {
	text := []byte(a.prompt.Text())
	a.prompt.Tokens = a.w.db.opts.Tokenizer(text)
	over.Tokens = max(int64(a.prompt.Tokens)-a.w.limit.Tokens, 0)
	over.Bytes = max(int64(len(text))-a.w.limit.Bytes, 0)
	return over
}

// evict makes room for an excess, by the window's policy and in one batch. It
// is false where nothing could be evicted for it.
func (a *assembly) evict(over cache.Cost) bool {
	w := a.w
	now := w.cache.Stats().Charged
	var room cache.Cost
	if over.Tokens > 0 {
		room.Tokens = w.limit.Tokens - now.Tokens + over.Tokens
	}
	if over.Bytes > 0 {
		room.Bytes = w.limit.Bytes - now.Bytes + over.Bytes
	}
	if !fits(room, w.limit, cache.Cost{}) {
		return false
	}
	_, _, err := w.cache.Load(context.Background(), roomKey, room, func() (struct{}, error) { return struct{}{}, errRoom })
	w.dropOrphans(0)
	w.compact()
	return errors.Is(err, errRoom) && w.cache.Stats().Charged != now
}

// give drops what is wanted least: what nobody asked for now, then fetched
// turns, the worst first, then the oldest of the recent ones.
func (a *assembly) give() bool {
	var loose, recent []TurnID
	for _, m := range a.prompt.Messages {
		switch {
		case m.Why == WhyResident:
			loose = append(loose, m.ID)
		case m.Why == WhyRecent || m.Why == WhyShort:
			recent = append(recent, m.ID)
		}
	}
	var id TurnID
	fetched := a.prompt.Fetched
	switch {
	case len(loose) > 0:
		id = loose[0]
	case len(fetched) > 0:
		id = fetched[len(fetched)-1].ID
		a.prompt.Fetched = fetched[:len(fetched)-1]
	case len(recent) > 0:
		id = recent[0]
	default:
		for other, why := range a.why { // calls of turns that were given up
			if why != WhyPinned {
				id = max(id, other)
			}
		}
	}
	if id == 0 {
		return false
	}
	if a.why[id] == WhyPinned {
		return true
	}
	delete(a.why, id)
	a.w.dropTurn(id, true)
	a.w.dropOrphans(0)
	a.w.compact()
	return true
}

// candidates are the handles that the index may have, the most wanted first:
// the newest turns, of which some may have no room, the shortlist, and what was
// evicted lately.
func (a *assembly) candidates(ctx context.Context) ([]Handle, error) {
	if a.short {
		return nil, nil
	}
	var ids []TurnID
	add := func(id TurnID) {
		if !slices.Contains(ids, id) && !a.w.isWhole(id) {
			ids = append(ids, id)
		}
	}
	for _, id := range a.recent[:min(len(a.recent), max(a.w.opts.KeepRecent, 0))] {
		add(id)
	}
	for _, h := range a.hits[:min(len(a.hits), shortlistTurns)] {
		add(h.ID)
	}
	for _, d := range a.w.Evicted(4 * evictedInIndex) {
		if len(ids) < shortlistTurns+evictedInIndex {
			add(d.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := a.w.db.handles(ctx, ids, 0, a.w.opts.HandleBytes)
	if err != nil && ctx.Err() == nil {
		a.prompt.note("index: %v", err)
		return nil, nil
	}
	return all, err
}

// fillIndex takes handles as long as they have room: under the index's cap;
// once nothing more can be evicted for it, in what is left of the budget.
func (a *assembly) fillIndex(handles []Handle) {
	w, p := a.w, &a.prompt
	limit := w.indexCap()
	used := cache.Cost{}
	for _, m := range p.Messages {
		used.Tokens += int64(m.Tokens)
		used.Bytes += int64(len(m.text()))
	}
	if a.tight {
		limit.Tokens = min(limit.Tokens, w.limit.Tokens-used.Tokens)
		limit.Bytes = min(limit.Bytes, w.limit.Bytes-used.Bytes)
	}
	for _, h := range handles {
		var whole bool
		if h.Here, h.Parts, whole = w.here(h.ID, h.Parts); whole {
			continue
		}
		p.Index = append(p.Index, h)
		text := p.indexText()
		if int64(len(text)) > limit.Bytes || int64(w.db.opts.Tokenizer([]byte(text))) > limit.Tokens {
			p.Index = p.Index[:len(p.Index)-1]
			break
		}
	}
}

// here lists the resident pages of a turn.
func (w *Window) here(id TurnID, known int) (list []int, parts int, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.turns[id]
	if r == nil {
		return nil, known, false
	}
	for i, b := range r.parts {
		if b != nil {
			list = append(list, i)
		}
	}
	return list, len(r.parts), len(list) == len(r.parts)
}

// explain notes what is not as a caller may expect.
func (a *assembly) explain() {
	for _, id := range a.recent[:min(len(a.recent), max(a.w.opts.KeepRecent, 0))] {
		list, parts, whole := a.w.here(id, 0)
		switch {
		case whole || slices.Contains(a.lost, id):
		case len(list) > 0:
			a.prompt.note("#%d is one of the newest turns; %d of its %d parts fit", id, len(list), parts)
		default:
			a.prompt.note("#%d is one of the newest turns and does not fit", id)
		}
	}
	for _, f := range a.prompt.Fetched {
		if len(f.Parts) > 0 {
			a.prompt.note("#%d does not fit whole: parts %v were fetched", f.ID, f.Parts)
		}
	}
}
