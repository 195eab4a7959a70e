package engine

import (
	"cmp"
	"errors"
	"slices"

	"ctxdb/cache"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
)

// headCost is set aside for the line above a message.
var headCost = cache.Cost{Tokens: 24, Bytes: 64}

// maxFetchedPages of a turn that does not fit whole.
const maxFetchedPages = 3

var errNoRoom = errors.New("engine: no room in the prompt")

// scope lists the newest turns of a thread, or of the file, the newest first,
// and what they cost: all of them where the session is short, else at least
// those that stay verbatim.
func (w *Window) scope(thread string) (ids []TurnID, tokens int, short bool, err error) {
	shortTurns, shortTokens := w.opts.ShortTurns, w.opts.ShortTokens
	setDefault(&shortTurns, defaultShortTurns)
	setDefault(&shortTokens, defaultShortTokens)
	end, err := w.db.end()
	if err != nil {
		return nil, 0, false, err
	}
	enough := func() bool {
		return len(ids) >= max(w.opts.KeepRecent, shortTurns) && tokens >= shortTokens
	}
	err = w.db.do(func(v *view) error {
		ids, tokens = ids[:0], 0
		for id := uint64(end) - 1; id > 0 && !enough(); id-- {
			if first, skip := w.db.without(v, id, thread); skip {
				id = first
				continue
			}
			rec, err := v.record(id)
			switch {
			case isRetired(err):
				return err
			case err != nil || rec.Role == RoleMeta || thread != "" && rec.Thread != thread:
				continue // who asks for a damaged turn hears of it
			}
			ids = append(ids, TurnID(id))
			tokens += int(rec.Tokens)
		}
		return nil
	})
	return ids, tokens, len(ids) < shortTurns || tokens < shortTokens, err
}

// surelyHolds reports whether a session has room in the prompt, all of it: then
// nothing has to be searched for.
func (w *Window) surelyHolds(turns, tokens int) bool {
	w.faults.Lock()
	defer w.faults.Unlock()
	return w.opts.BudgetBytes == 0 && int64(tokens)+int64(turns)*headCost.Tokens <= w.promptRoom().Tokens
}

// without reports whether the last turn of a segment is asked for and the
// segment has none of a thread, and which is its first turn.
func (db *DB) without(v *view, id uint64, thread string) (first uint64, skip bool) {
	s := v.segmentOf(id)
	if thread == "" || s == nil || s.Entry().EndID() != id+1 {
		return 0, false
	}
	i, err := db.index.of(s)
	if err != nil || i.terms == nil {
		return 0, false
	}
	c, err := i.terms.Columns()
	if err != nil {
		return 0, false
	}
	hash := rank.ThreadHash(thread)
	return s.Entry().FirstID, !slices.ContainsFunc(c.Runs, func(r rank.Run) bool { return r.Thread == hash })
}

// promptRoom is what the prompt can hold beside pinned turns and index.
func (w *Window) promptRoom() cache.Cost {
	room := minus(w.limit, w.pinned)
	index := w.indexCap()
	if w.opts.BudgetTokens > 0 {
		room.Tokens -= index.Tokens
	}
	if w.opts.BudgetBytes > 0 {
		room.Bytes -= index.Bytes
	}
	return room
}

// indexCap is how much the index may take.
func (w *Window) indexCap() cache.Cost {
	c := cache.Cost{Tokens: int64(w.opts.IndexTokens), Bytes: w.limit.Bytes / indexShare}
	if c.Tokens == 0 {
		c.Tokens = w.limit.Tokens / indexShare
	}
	c.Tokens = min(c.Tokens, w.limit.Tokens)
	return c
}

func (w *Window) isWhole(id TurnID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.turns[id]
	return r != nil && r.whole != nil
}

// want makes a turn resident until the prompt is made: whole, with the call
// that it answers, or else those of its pages that have room; parts names them.
// errNoRoom: none has. REQUIRES: faults.
func (a *assembly) want(id TurnID, why Why) (parts []int, err error) {
	if a.why[id] != "" {
		return nil, nil
	}
	l, t, err := a.w.layoutOf(id)
	if err != nil {
		return nil, err
	}
	room := a.spare
	if why == WhyFetched && len(l.pages) > 1 { // others want to be fetched as well
		room = cache.Cost{Tokens: room.Tokens / 2, Bytes: room.Bytes / 2}
	}
	call, err := a.wantCall(l, why, room)
	if err != nil {
		return nil, err
	}
	room = minus(room, call)
	if whole := plus(l.cost, headCost); fits(whole, room, cache.Cost{}) {
		return nil, a.take(id, allParts, why, whole)
	}
	for _, i := range a.bestPages(l, t, why) {
		cost := plus(l.pages[i].cost(), headCost)
		if !fits(cost, room, cache.Cost{}) {
			continue
		}
		if err := a.take(id, i, why, cost); err != nil {
			return parts, err
		}
		room = minus(room, cost)
		parts = append(parts, i)
	}
	if len(parts) == 0 {
		return nil, errNoRoom
	}
	slices.Sort(parts)
	return parts, nil
}

// wantCall takes the call that a result answers, whole if it fits, else its
// first page. It returns what that costs.
func (a *assembly) wantCall(l *layout, why Why, room cache.Cost) (cost cache.Cost, err error) {
	if l.reply == 0 || a.why[l.reply] != "" {
		return cost, nil
	}
	c, _, err := a.w.layoutOf(l.reply)
	if err != nil {
		return cost, errNoRoom // a result without its call is no use
	}
	part := allParts
	cost = plus(c.cost, headCost)
	least := plus(l.pages[0].cost(), headCost)
	if !fits(plus(cost, least), room, cache.Cost{}) {
		part, cost = 0, plus(c.pages[0].cost(), headCost)
	}
	if !fits(plus(cost, least), room, cache.Cost{}) {
		return cost, errNoRoom
	}
	return cost, a.take(c.id, part, why, cost)
}

// take brings pages and keeps them until the prompt is made.
func (a *assembly) take(id TurnID, part int, why Why, cost cache.Cost) error {
	w := a.w
	_, err := w.bringHeld(wish{id: id, part: part})
	if overBudget(err) && len(w.holds) > 0 { // what this prompt needs comes before the pins of earlier faults
		for _, h := range w.holds {
			w.cache.Unpin(h.key)
		}
		w.holds = nil
		_, err = w.bringHeld(wish{id: id, part: part})
	}
	if overBudget(err) {
		return errNoRoom
	}
	if err != nil {
		return err
	}
	l, _, err := w.layoutOf(id)
	if err != nil {
		return err
	}
	for i := range l.pages {
		if part == allParts || part == i {
			if key := makePageKey(id, i); w.cache.Pin(key) == nil {
				a.steady = append(a.steady, key)
			}
		}
	}
	a.why[id] = why
	a.spare = minus(a.spare, cost)
	return nil
}

func overBudget(err error) bool {
	return errors.Is(err, ErrOverBudget) || errors.Is(err, cache.ErrOverBudget)
}

// bestPages orders the pages of a turn that does not fit: by how many of the
// question's words they have, weighed by how few other pages have them; of a
// recent turn as they stand.
func (a *assembly) bestPages(l *layout, t *Turn, why Why) []int {
	order := make([]int, len(l.pages))
	for i := range order {
		order[i] = i
	}
	if why != WhyFetched || len(order) == 1 {
		return order
	}
	if t == nil {
		got, err := a.w.db.Get(l.id)
		if err != nil {
			return order
		}
		t = &got
	}
	scores := scorePages(a.question(), l, t.Content)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	return order[:min(len(order), maxFetchedPages)]
}

func scorePages(question string, l *layout, content []byte) []float64 {
	var x lex.Analyzer
	query := lex.Parse(question, &x)
	have := map[lex.Term]int{}
	docs := make([]map[lex.Term]bool, len(l.pages))
	for i, p := range l.pages {
		docs[i] = map[lex.Term]bool{}
		for _, tc := range x.Turn(nil, lex.Input{Content: content[p.start:p.end]}).Terms {
			docs[i][tc.Term] = true
		}
		for _, t := range query.Terms {
			if docs[i][t.Term] {
				have[t.Term]++
			}
		}
	}
	scores := make([]float64, len(docs))
	for i, doc := range docs {
		for _, t := range query.Terms {
			if doc[t.Term] {
				scores[i] += t.Weight * idfOf(len(docs), have[t.Term])
			}
		}
	}
	return scores
}
