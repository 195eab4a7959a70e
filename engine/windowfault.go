package engine

import (
	"context"
	"errors"
	"fmt"

	"ctxdb/cache"
	"ctxdb/format"
)

// wish is what a reference wants resident.
type wish struct {
	id   TurnID
	part int  // or allParts
	pin  bool // all parts are pinned as well, and a turn that is resident is not referenced
}

// outcome is a wish that came true. What it points at is shared.
type outcome struct {
	whole *Turn // of a wish for all parts
	page  Page  // of a wish for one
	hit   bool
}

// bring makes what is wanted resident and references it. It is decided whether
// that fits before anything changes.
func (w *Window) bring(x wish) (out outcome, err error) {
	w.faults.Lock()
	defer w.faults.Unlock()
	return w.bringHeld(x)
}

// bringHeld is bring for who holds faults already.
func (w *Window) bringHeld(x wish) (out outcome, err error) {
	if w.db.closed.Load() {
		return out, ErrClosed
	}
	l, fresh, err := w.layoutOf(x.id)
	if err != nil {
		return out, err
	}
	if x.part >= len(l.pages) {
		return out, fmt.Errorf("turn %d has no part %d, only 0 to %d: %w", x.id, x.part, len(l.pages)-1, ErrNotFound)
	}
	if out, ok := w.present(x); ok {
		return out, nil
	}
	f := w.newFault(x, l, fresh)
	if !fits(f.want, w.limit, w.pinned) {
		return out, fmt.Errorf("%w: turn %d costs %d tokens and %d bytes, pinned are %d and %d", ErrOverBudget,
			x.id, f.want.Tokens, f.want.Bytes, w.pinned.Tokens, w.pinned.Bytes)
	}
	w.learn()
	w.expireHolds()
	w.yieldHolds(f)
	w.callAlong(f)
	w.begin(f)
	err = w.makeRoom(f)
	w.dropOrphans(x.id)
	w.compact()
	if err == nil {
		err = w.admit(f)
	}
	for _, key := range f.steady {
		w.cache.Unpin(key)
	}
	if err != nil {
		return out, err
	}
	w.warnOfThrash()
	return w.finish(f), nil
}

// present finds what came while the wish waited for its turn.
func (w *Window) present(x wish) (out outcome, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.turns[x.id]
	if r == nil || x.part == allParts && r.whole == nil || x.part != allParts && r.parts[x.part] == nil {
		return out, false
	}
	if !x.pin && !w.touch(x.id, r, x.part) {
		return out, false // can't be: nothing leaves but under faults
	}
	return r.outcome(x, true), true
}

func (r *resident) outcome(x wish, hit bool) outcome {
	if x.part == allParts {
		return outcome{whole: r.whole, hit: hit}
	}
	return outcome{page: r.page(x.part), hit: hit}
}

// fault is one reference to what is cold, in the making.
type fault struct {
	wish
	lay     *layout
	fresh   *Turn // the turn, where it was read for its layout
	want    cache.Cost
	missing []int      // parts that are wanted and cold
	room    cache.Cost // of what is missing, that of the call included
	steady  []pageKey  // pinned while the others load
	call    *layout    // of a call that comes along; nil: none does
	newCall *Turn
	parts   [][]byte // what was read, as missing has it
	whole   *Turn    // where all parts will be resident
	callIn  [][]byte // what was read of it
	callAll *Turn    // where that is all of it
}

func (w *Window) newFault(x wish, l *layout, fresh *Turn) *fault {
	f := &fault{wish: x, lay: l, fresh: fresh, want: l.cost}
	if x.part != allParts {
		f.want = l.pages[x.part].cost()
		f.missing, f.room = []int{x.part}, f.want
		return f
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.turns[x.id]
	for i := range l.pages {
		if r != nil && r.parts[i] != nil {
			f.steady = append(f.steady, makePageKey(x.id, i))
			continue
		}
		f.missing = append(f.missing, i)
		f.room = plus(f.room, l.pages[i].cost())
	}
	return f
}

// wants reports whether a page is among what the fault wants.
func (f *fault) wants(key pageKey) bool {
	return key.id() == f.id && (f.part == allParts || key.part() == f.part)
}

// callAlong adds the first page of the call that a tool result answers, if
// both fit. A call that can't be read stays away.
func (w *Window) callAlong(f *fault) {
	key := f.lay.call
	if key == 0 || f.wants(key) {
		return
	}
	l, fresh, err := w.layoutOf(key.id())
	if err != nil {
		return
	}
	cost := l.pages[0].cost()
	if w.pins[l.id] || w.isHeld(key) {
		return // it stays anyway
	}
	if !fits(plus(f.want, cost), w.limit, plus(w.pinned, w.heldBeside(f))) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.turns[l.id]; r != nil && r.parts[0] != nil {
		f.steady = append(f.steady, key)
		return
	}
	f.call, f.newCall = l, fresh
	f.room = plus(f.room, cost)
}

// begin counts the reference and holds fast what is here already.
func (w *Window) begin(f *fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cache.Tick()
	for _, key := range f.steady {
		w.cache.Get(key)
		_ = w.cache.Pin(key) // it is resident: nothing leaves but under faults
	}
	var back int64
	for _, i := range f.missing {
		if _, was := w.gone.m[makePageKey(f.id, i)]; was {
			back += w.local.sizeOf(f.lay.pages[i].cost())
		}
		w.counts.faultTokens += f.lay.pages[i].tokens
	}
	w.counts.faults++
	w.reference(f.lay, f.part, back)
}

// errRoom ends a reservation that has done its work.
var errRoom = errors.New("engine: there is room")

// roomKey names what is reserved for a whole fault; no turn has the id 0.
const roomKey pageKey = 0

// makeRoom evicts, in one batch, for all that is missing, and reads it while
// its cost is reserved.
func (w *Window) makeRoom(f *fault) error {
	_, _, err := w.cache.Load(context.Background(), roomKey, f.room, func() (struct{}, error) {
		var err error
		if f.parts, f.whole, err = w.readPages(f.lay, f.fresh, f.missing); err != nil {
			return struct{}{}, err
		}
		if f.call != nil {
			w.readCall(f)
		}
		return struct{}{}, errRoom
	})
	if errors.Is(err, errRoom) {
		return nil
	}
	return err
}

// readCall reads the page that comes along. Where it can't be read it stays
// away.
func (w *Window) readCall(f *fault) {
	var err error
	if f.callIn, f.callAll, err = w.readPages(f.call, f.newCall, []int{0}); err != nil {
		f.call = nil
	}
}

// readPages reads parts of a turn, and the turn as it will be where all of it
// is resident then.
func (w *Window) readPages(l *layout, t *Turn, missing []int) (parts [][]byte, whole *Turn, err error) {
	if len(missing) == len(l.pages) {
		if t == nil {
			got, err := w.db.Get(l.id)
			if err != nil {
				return nil, nil, err
			}
			t = &got
		}
		return l.slice(t.Content, missing, false), t, nil
	}
	if t != nil && w.completes(l, missing) {
		return l.slice(t.Content, missing, false), t, nil
	}
	if t != nil {
		return l.slice(t.Content, missing, true), nil, nil
	}
	for _, i := range missing {
		var b []byte
		err := w.db.do(func(v *view) (err error) {
			b, err = v.page(uint64(l.id), &l.pages[i])
			return err
		})
		if err != nil {
			return nil, nil, fmt.Errorf("get: %w", err)
		}
		parts = append(parts, b)
	}
	whole, err = w.join(l, missing, parts)
	return parts, whole, err
}

// slice cuts parts out of a content, as copies or as they are.
func (l *layout) slice(content []byte, parts []int, copied bool) [][]byte {
	all := make([][]byte, len(parts))
	for n, i := range parts {
		p := &l.pages[i]
		all[n] = content[p.start:p.end:p.end]
		if copied || all[n] == nil {
			all[n] = append([]byte{}, all[n]...)
		}
	}
	return all
}

// completes reports whether all of a turn is resident once some parts have come.
func (w *Window) completes(l *layout, missing []int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.turns[l.id]
	return r != nil && r.here+len(missing) == len(l.pages)
}

// join makes a turn of parts that are resident and parts that were read; nil
// where others are still cold.
func (w *Window) join(l *layout, missing []int, parts [][]byte) (*Turn, error) {
	if !w.completes(l, missing) {
		return nil, nil
	}
	content := make([]byte, l.cost.Bytes)
	w.mu.Lock()
	for i, b := range w.turns[l.id].parts {
		copy(content[l.pages[i].start:], b)
	}
	w.mu.Unlock()
	for n, i := range missing {
		copy(content[l.pages[i].start:], parts[n])
	}
	var rec format.Record
	err := w.db.do(func(v *view) (err error) {
		if rec, err = v.record(uint64(l.id)); err == nil && !rec.Intact(content) {
			err = fmt.Errorf("turn %d: %w: its parts differ from its sum", l.id, ErrCorrupt)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	stored := rec.Turn
	stored.Content = content
	t := fromStored(uint64(l.id), &stored)
	return &t, nil
}
