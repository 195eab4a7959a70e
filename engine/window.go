package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ctxdb/cache"
)

// WindowOptions configure a window. At least one budget is set; both hold at
// every instant.
type WindowOptions struct {
	BudgetTokens int          // 0: none
	BudgetBytes  int64        // of content; 0: none
	Policy       cache.Policy // "": "lru"; "clock"
	LowWatermark float64      // 0: evict down to 0.6 of the budget in one batch; 1: one turn at a time
}

// defaultWatermark evicts in batches: each eviction invalidates a model's
// prompt cache, so few large ones are cheaper than many small ones.
const defaultWatermark = 0.6

// Window is a set of resident turns under a strict budget: what the model sees.
// Its methods may be called by many goroutines.
//
// invariant: the cost of what is resident, and of what is being loaded, is at
// most the budget at every instant.
type Window struct {
	db    *DB
	name  string
	cache *cache.Cache[TurnID, *Turn]
	pins  pinSet
}

// pinSet tells pinned turns: Pin is idempotent, where the cache counts.
type pinSet struct {
	sync.Mutex
	ids map[TurnID]bool
}

// WindowStats counts what a window did. A reference is a Get.
type WindowStats struct {
	Refs, Hits, Faults, Evictions int64
	Turns                         int   // resident now
	Tokens, Bytes                 int64 // charged now
	PeakTokens, PeakBytes         int64
	PinnedTokens, PinnedBytes     int64
}

// Window makes an empty window on the file. The name is the caller's, for
// messages. A window lives as long as its DB.
func (db *DB) Window(name string, opts WindowOptions) (*Window, error) {
	if db.closed.Load() {
		return nil, fmt.Errorf("window: %w", ErrClosed)
	}
	if opts.BudgetTokens < 0 || opts.BudgetBytes < 0 || opts.BudgetTokens == 0 && opts.BudgetBytes == 0 {
		return nil, fmt.Errorf("window %q: set a budget in tokens or in bytes, above 0", name)
	}
	setDefault(&opts.Policy, cache.LRU)
	setDefault(&opts.LowWatermark, defaultWatermark)
	switch opts.Policy {
	case cache.LRU, cache.CLOCK:
	default:
		return nil, fmt.Errorf("window %q: policy %q; there are lru and clock", name, opts.Policy)
	}
	c, err := cache.New(cache.Options[TurnID, *Turn]{
		BudgetTokens: int64(opts.BudgetTokens), BudgetBytes: opts.BudgetBytes,
		Policy: opts.Policy, LowWatermark: opts.LowWatermark,
	})
	if err != nil {
		return nil, fmt.Errorf("window %q: %w", name, err)
	}
	return &Window{db: db, name: name, cache: c, pins: pinSet{ids: map[TurnID]bool{}}}, nil
}

// Get references a turn. hit is false where it was cold: it was read from the
// file and is resident now, and what had to leave for it has left. The turn is
// the caller's, content included.
//
// ErrOverBudget: the turn does not fit beside what is pinned; nothing changed.
// Other errors are those of DB.Get.
func (w *Window) Get(id TurnID) (turn Turn, hit bool, err error) {
	if w.db.closed.Load() {
		return Turn{}, false, fmt.Errorf("window %q: %w", w.name, ErrClosed)
	}
	if t, ok := w.cache.Get(id); ok {
		return t.clone(), true, nil
	}
	t, hit, err := w.load(id, w.cache.Load)
	if err != nil {
		return Turn{}, false, err
	}
	return t.clone(), hit, nil
}

// View is Get without the copy: the turn is shared with the window and must not
// be changed. A hit allocates nothing.
func (w *Window) View(id TurnID) (turn *Turn, hit bool, err error) {
	if w.db.closed.Load() {
		return nil, false, fmt.Errorf("window %q: %w", w.name, ErrClosed)
	}
	if t, ok := w.cache.Get(id); ok {
		return t, true, nil
	}
	return w.load(id, w.cache.Load)
}

type loader = func(context.Context, TurnID, cache.Cost, func() (*Turn, error)) (*Turn, bool, error)

// load faults a turn in. Its cost is known before its content is read.
func (w *Window) load(id TurnID, load loader) (*Turn, bool, error) {
	cost, err := w.cost(id)
	if err != nil {
		return nil, false, err
	}
	t, hit, err := load(context.Background(), id, cost, func() (*Turn, error) {
		t, err := w.db.Get(id)
		return &t, err
	})
	if errors.Is(err, cache.ErrOverBudget) {
		s := w.cache.Stats()
		return nil, false, fmt.Errorf("window %q: %w: turn %d costs %d tokens and %d bytes, pinned are %d and %d", w.name, ErrOverBudget,
			id, cost.Tokens, cost.Bytes, s.Pinned.Tokens, s.Pinned.Bytes)
	}
	if err != nil {
		return nil, false, fmt.Errorf("window %q: %w", w.name, err)
	}
	return t, hit, nil
}

func (w *Window) cost(id TurnID) (cache.Cost, error) {
	var c cache.Cost
	err := w.db.do(func(v *view) error {
		r, err := v.record(uint64(id))
		c = cache.Cost{Tokens: int64(r.Tokens), Bytes: int64(r.ContentLen)}
		return err
	})
	if err != nil {
		return c, fmt.Errorf("window %q: %w", w.name, err)
	}
	return c, nil
}

// Pin makes a turn resident, if it is not, and keeps it from being evicted
// until Unpin. Its cost counts. ErrOverBudget: it does not fit beside what is
// pinned; nothing changed. Pinning twice is pinning once.
func (w *Window) Pin(id TurnID) error {
	w.pins.Lock()
	defer w.pins.Unlock()
	if w.db.closed.Load() {
		return fmt.Errorf("window %q: %w", w.name, ErrClosed)
	}
	if w.pins.ids[id] {
		return nil
	}
	if w.cache.Pin(id) != nil { // not resident
		if _, _, err := w.load(id, w.cache.LoadPinned); err != nil {
			return err
		}
	}
	w.pins.ids[id] = true
	return nil
}

// Unpin lets a turn be evicted again.
func (w *Window) Unpin(id TurnID) {
	w.pins.Lock()
	defer w.pins.Unlock()
	if w.pins.ids[id] {
		delete(w.pins.ids, id)
		w.cache.Unpin(id)
	}
}

// Release drops a turn from the window, pinned or not. It is cold then.
func (w *Window) Release(id TurnID) {
	w.Unpin(id)
	// What is not resident, or was pinned again meanwhile, stays as it is.
	_ = w.cache.Release(id)
}

// Resident lists the resident turns in the order in which they came.
func (w *Window) Resident() []TurnID { return w.cache.Keys() }

// Stats returns the window's counters and charge, all of one instant.
func (w *Window) Stats() WindowStats {
	s := w.cache.Stats()
	return WindowStats{
		Refs: s.Refs, Hits: s.Hits, Faults: s.Faults, Evictions: s.Evictions, Turns: s.Items,
		Tokens: s.Charged.Tokens, Bytes: s.Charged.Bytes, PeakTokens: s.Peak.Tokens, PeakBytes: s.Peak.Bytes,
		PinnedTokens: s.Pinned.Tokens, PinnedBytes: s.Pinned.Bytes,
	}
}

// clone is a turn that shares no memory that can be changed.
func (t *Turn) clone() Turn {
	c := *t
	c.Content = append([]byte{}, t.Content...)
	c.Entities = append([]string(nil), t.Entities...)
	c.Tags = append([]string(nil), t.Tags...)
	c.Embedding = append([]float32(nil), t.Embedding...)
	return c
}
