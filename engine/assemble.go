package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ctxdb/cache"
)

// Selector picks, from the handles of what a search found, the turns that a
// question needs: at most 6. It sees no contents.
type Selector interface {
	Select(ctx context.Context, question string, handles []Handle) ([]TurnID, error)
}

// Sizes of an assembly.
const (
	shortlistTurns     = 12
	maxPicks           = 6
	evictedInIndex     = 8
	defaultShortTurns  = 12
	defaultShortTokens = 6000
	defaultSelectWait  = 30 * time.Second
	indexShare         = 10 // of the budget, where IndexTokens is 0
)

// Assemble makes the prompt of the next step, which q says is about what. In it
// are, under the window's budgets, which hold for Prompt.Text as it is counted
// by Options.Tokenizer, separators included:
//
//   - the pinned turns, in the order of their ids: the stable prefix;
//   - what is resident, and what was fetched for q: of a shortlist of 12 that
//     the search finds the Selector's choice, or else the best; whole turns as
//     they fit, of longer ones the pages that q is about, of up to 6 turns;
//   - the newest KeepRecent turns, of q.Thread if it is set;
//   - the index: handles of the shortlist and of what was evicted lately, as far
//     as they are cold, within IndexTokens (0: a tenth of the budget).
//
// Turns stand in the order of their ids, the index last: turns that come, and
// the index that changes with each question, then invalidate least of a model's
// prompt cache. Over 200 steps under 16,000 tokens it serves 86 % of each
// prompt, 83 % with the index before the newest turns, 25 % with the index
// behind the prefix; at a watermark of 1 it is 50, 49 and 19 % (TestCacheReuse).
// No tool result is in it without its
// call. What it fetches becomes resident and counts as referenced; where the rest
// does not fit beside the index any more, it is evicted in one batch, as by a fault.
//
// A session below ShortTurns or ShortTokens that fits in the budget is simply
// resident, all of it, without an index.
//
// q.Text empty and no q.Vector: nothing is fetched. An Embedder or a Selector that
// fails, takes too long or answers wrongly, as a Selector does that names what is
// not on the list, is passed over, and Notes says so.
// Errors: ErrOverBudget where the pinned turns alone exceed a budget, those of
// Search and Get, and the context's.
func (w *Window) Assemble(ctx context.Context, q Query) (Prompt, error) {
	a := &assembly{w: w, q: q, why: map[TurnID]Why{}}
	if err := a.choose(ctx); err != nil {
		return Prompt{}, w.err(fmt.Errorf("assemble: %w", err))
	}
	w.faults.Lock()
	defer w.faults.Unlock()
	err := a.make(ctx)
	for _, key := range a.steady {
		w.cache.Unpin(key)
	}
	if err != nil {
		return Prompt{}, w.err(fmt.Errorf("assemble: %w", err))
	}
	return a.prompt, nil
}

// assembly is a prompt in the making.
type assembly struct {
	w      *Window
	q      Query
	hits   []Hit
	picks  []FetchedTurn
	recent []TurnID // newest first
	why    map[TurnID]Why
	lost   []TurnID  // that can't be read
	steady []pageKey // pinned while the prompt is made
	prompt Prompt
	short  bool
	tight  bool       // nothing can be evicted for the index any more
	spare  cache.Cost // what may still be brought
}

// choose searches and selects, before anything is locked.
func (a *assembly) choose(ctx context.Context) error {
	if a.w.db.closed.Load() {
		return ErrClosed
	}
	var tokens int
	var err error
	if a.recent, tokens, a.short, err = a.w.scope(a.q.Thread); err != nil {
		return err
	}
	if a.short && a.w.surelyHolds(len(a.recent), tokens) || a.q.Text == "" && len(a.q.Vector) == 0 {
		return ctx.Err()
	}
	q := a.q
	if q.K <= 0 {
		q.K = shortlistTurns
	}
	found, err := a.w.db.find(ctx, q)
	if isDamage(err) {
		a.prompt.note("search: %v", err)
	} else if err != nil {
		return err
	}
	a.hits, a.prompt.Notes = found.Hits, append(a.prompt.Notes, found.Notes...)
	a.pick(ctx)
	return ctx.Err()
}

// pick takes the Selector's choice, or the best hits.
func (a *assembly) pick(ctx context.Context) {
	score := map[TurnID]float64{}
	for _, h := range a.hits {
		score[h.ID] = h.Score
	}
	if a.w.opts.Selector != nil && len(a.hits) > 0 {
		ids, err := a.selected(ctx)
		if err == nil {
			for _, id := range ids {
				a.picks = append(a.picks, FetchedTurn{ID: id, Why: "selector", Score: score[id]})
			}
			return
		}
		a.prompt.note("selector: %v; the best of the search are taken", err)
	}
	for _, h := range a.hits[:min(len(a.hits), maxPicks)] {
		a.picks = append(a.picks, FetchedTurn{ID: h.ID, Why: "search", Score: h.Score})
	}
}

// selected asks the Selector. It is left alone when its time is over, even if
// it does not obey its context.
func (a *assembly) selected(ctx context.Context) ([]TurnID, error) {
	ids := make([]TurnID, len(a.hits))
	for i, h := range a.hits {
		ids[i] = h.ID
	}
	handles, err := a.w.db.handles(ctx, ids, 0, a.w.opts.HandleBytes)
	if err != nil {
		return nil, err
	}
	wait := a.w.opts.SelectWait
	setDefault(&wait, defaultSelectWait)
	chosen, err := inTime(ctx, wait, func(ctx context.Context) ([]TurnID, error) {
		return a.w.opts.Selector.Select(ctx, a.q.Text, handles)
	})
	if err != nil {
		return nil, err
	}
	return checkSelection(chosen, ids)
}

func checkSelection(chosen, offered []TurnID) (ids []TurnID, err error) {
	for _, id := range chosen {
		if !slices.Contains(offered, id) {
			return nil, fmt.Errorf("%w: #%d was not on the list", errAnswer, id)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxPicks {
		return nil, fmt.Errorf("%w: %d turns, %d may be chosen", errAnswer, len(ids), maxPicks)
	}
	return ids, nil
}

// make brings what is wanted and renders. REQUIRES: faults.
func (a *assembly) make(ctx context.Context) error {
	if a.w.db.closed.Load() {
		return ErrClosed
	}
	a.w.learn()
	a.spare = a.w.promptRoom()
	if err := a.keepPinned(); err != nil {
		return err
	}
	if a.short && a.keepAll() {
		a.prompt.Short = true
	} else {
		a.short = false
		for _, id := range a.recent[:min(len(a.recent), max(a.w.opts.KeepRecent, 0))] {
			if _, err := a.want(id, WhyRecent); err != nil && !errors.Is(err, errNoRoom) {
				if err = a.unreadable(id, err); err != nil {
					return err
				}
			}
		}
		if err := a.fetch(ctx); err != nil {
			return err
		}
	}
	return a.fit(ctx)
}

// keepPinned counts the calls of pinned results among what is pinned.
func (a *assembly) keepPinned() error {
	for id := range a.w.pins {
		a.why[id] = WhyPinned
	}
	for _, id := range slices.Sorted(maps.Keys(a.w.pins)) {
		l, _, err := a.w.layoutOf(id)
		if err != nil {
			return err
		}
		if _, err := a.wantCall(l, WhyPinned, a.spare); err != nil && !errors.Is(err, errNoRoom) {
			return err
		}
	}
	return nil
}

// keepAll makes all of a short session resident, if it fits.
func (a *assembly) keepAll() bool {
	var sum cache.Cost
	for _, id := range a.recent {
		l, _, err := a.w.layoutOf(id)
		if err != nil {
			return false
		}
		sum = plus(sum, plus(l.cost, headCost))
	}
	if !fits(sum, a.spare, cache.Cost{}) {
		return false
	}
	for _, id := range slices.Backward(a.recent) {
		if parts, err := a.want(id, WhyShort); err != nil || parts != nil {
			return false
		}
	}
	return true
}

// fetch brings the turns that were picked.
func (a *assembly) fetch(ctx context.Context) error {
	for _, p := range a.picks {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.Cold = !a.w.isWhole(p.ID)
		parts, err := a.want(p.ID, WhyFetched)
		if errors.Is(err, errNoRoom) {
			continue // its handle is in the index
		}
		if err != nil {
			if err = a.unreadable(p.ID, err); err != nil {
				return err
			}
			continue
		}
		p.Parts = parts
		a.prompt.Fetched = append(a.prompt.Fetched, p)
	}
	return nil
}

// unreadable notes a turn that is lost, and lets other errors pass.
func (a *assembly) unreadable(id TurnID, err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForgotten) {
		a.prompt.note("#%d can't be read: %v", id, err)
		a.lost = append(a.lost, id)
		return nil
	}
	return err
}

// collect lists what is resident, by id, pinned turns first.
func (a *assembly) collect() (all []PromptMessage) {
	w := a.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, r := range w.turns {
		if r.lay.role == RoleMeta || !a.hasCall(r) {
			continue
		}
		m := PromptMessage{ID: id, Part: WholeTurn, Parts: len(r.parts), Role: r.lay.role, Thread: r.lay.thread, Time: r.lay.time}
		if m.Why = a.why[id]; m.Why == "" {
			m.Why = WhyResident
		}
		if r.whole != nil {
			m.Content, m.ReplyTo, m.Tags = r.whole.Content, r.whole.ReplyTo, r.whole.Tags
			all = append(all, m)
			continue
		}
		for i, b := range r.parts {
			if b != nil {
				m.Part, m.Content = i, b
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(x, y PromptMessage) int {
		if p, q := x.Why == WhyPinned, y.Why == WhyPinned; p != q {
			return cmp.Compare(b2i(q), b2i(p))
		}
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Part, y.Part))
	})
	return all
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// hasCall is false of a tool result whose call is not resident. REQUIRES: mu.
func (a *assembly) hasCall(r *resident) bool {
	if r.lay.reply == 0 {
		return true
	}
	c := a.w.turns[r.lay.reply]
	return c != nil && c.here > 0
}

// question is what the fetched pages are chosen by.
func (a *assembly) question() string { return strings.TrimSpace(a.q.Text) }
