package engine

import (
	"fmt"
	"time"
)

// Page is a part of a turn, or a turn that is not cut.
type Page struct {
	ID      TurnID
	Part    int // from 0
	Parts   int // of the turn, in this window
	Role    string
	Thread  string
	Time    time.Time
	Tokens  int    // what it costs; those of a turn's pages add up to the turn's
	Offset  int    // of Content in the turn's, in bytes
	Content []byte // the caller's
}

// Get references a turn and returns it whole. hit is false where a part of it
// was cold: it was read from the file, all of the turn is resident now, and
// what had to leave for it has left. The turn is the caller's, content
// included.
//
// ErrOverBudget: the turn does not fit beside what is pinned; nothing changed.
// Other errors are those of DB.Get.
func (w *Window) Get(id TurnID) (turn Turn, hit bool, err error) {
	t, hit, err := w.View(id)
	if err != nil {
		return Turn{}, false, err
	}
	return t.clone(), hit, nil
}

// View is Get without the copy: the turn is shared with the window and must not
// be changed. A hit allocates nothing.
func (w *Window) View(id TurnID) (turn *Turn, hit bool, err error) {
	if w.db.closed.Load() {
		return nil, false, w.err(ErrClosed)
	}
	w.mu.Lock()
	if r := w.turns[id]; r != nil && r.whole != nil && w.touch(id, r, allParts) {
		turn = r.whole
		w.mu.Unlock()
		return turn, true, nil
	}
	w.mu.Unlock()
	got, err := w.bring(wish{id: id, part: allParts})
	if err != nil {
		return nil, false, w.err(err)
	}
	return got.whole, got.hit, nil
}

// Page references one part of a turn, counted from 0, and makes only that part
// resident. Its content is the caller's. ErrNotFound: the turn has no such
// part. ErrOverBudget and other errors are as with Get.
func (w *Window) Page(id TurnID, part int) (page Page, hit bool, err error) {
	if w.db.closed.Load() {
		return Page{}, false, w.err(ErrClosed)
	}
	if part < 0 {
		return Page{}, false, w.err(fmt.Errorf("turn %d has no part %d: %w", id, part, ErrNotFound))
	}
	w.mu.Lock()
	if r := w.turns[id]; r != nil && part < len(r.parts) && r.parts[part] != nil && w.touch(id, r, part) {
		page = r.page(part)
		w.mu.Unlock()
		page.Content = append([]byte{}, page.Content...)
		return page, true, nil
	}
	w.mu.Unlock()
	got, err := w.bring(wish{id: id, part: part})
	if err != nil {
		return Page{}, false, w.err(err)
	}
	page = got.page
	page.Content = append([]byte{}, page.Content...)
	return page, got.hit, nil
}

// page describes a resident page; the content is shared.
func (r *resident) page(part int) Page {
	p := &r.lay.pages[part]
	return Page{
		ID: r.lay.id, Part: part, Parts: len(r.parts), Role: r.lay.role, Thread: r.lay.thread, Time: r.lay.time,
		Tokens: int(p.tokens), Offset: int(p.start), Content: r.parts[part],
	}
}

// allParts is the part of who wants them all.
const allParts = -1

// touch counts a hit on what is resident. It is false where a page left just
// now and the window has not heard of it yet. REQUIRES: mu, and the pages are
// resident as far as the window knows.
func (w *Window) touch(id TurnID, r *resident, part int) bool {
	w.cache.Tick()
	if part != allParts {
		if _, ok := w.cache.Get(makePageKey(id, part)); !ok {
			return false
		}
	} else {
		for i := range r.parts {
			if _, ok := w.cache.Get(makePageKey(id, i)); !ok {
				return false
			}
		}
	}
	if r.lay.call != 0 {
		w.cache.Get(r.lay.call) // it stays as long as its result does
	}
	w.counts.hits++
	w.counts.hitSize += w.reference(r.lay, part, 0)
	return true
}

// reference counts a reference and what it wanted, and returns the size of
// that. back is the size of what had been here before. REQUIRES: mu.
func (w *Window) reference(l *layout, part int, back int64) int64 {
	cost := l.cost
	if part != allParts {
		cost = l.pages[part].cost()
		w.local.saw(makePageKey(l.id, part), cost)
	} else {
		for i := range l.pages {
			w.local.saw(makePageKey(l.id, i), l.pages[i].cost())
		}
	}
	size := w.local.sizeOf(cost)
	w.counts.refs++
	w.counts.refSize += size
	w.steps++
	w.local.weigh(size, back)
	w.record(traceRecord{kind: TraceRef, id: l.id, part: int32(part), tokens: cost.Tokens, bytes: cost.Bytes})
	return size
}

func (w *Window) err(err error) error { return fmt.Errorf("window %q: %w", w.name, err) }

// clone is a turn that shares no memory that can be changed.
func (t *Turn) clone() Turn {
	c := *t
	c.Content = append([]byte{}, t.Content...)
	c.Entities = append([]string(nil), t.Entities...)
	c.Tags = append([]string(nil), t.Tags...)
	c.Embedding = append([]float32(nil), t.Embedding...)
	return c
}
