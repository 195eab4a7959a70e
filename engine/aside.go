package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"ctxdb/format"
)

// aside is what the file remembers besides turns, as this DB has it: the states
// of windows and the trace (SPEC.md, section 5). It is read when it is first
// asked for, and written along with a catalog. Damage to it is a warning.
type aside struct {
	trace *traceLog // nil: off

	// mu is taken before the locks of a window and of the trace.
	mu      sync.Mutex
	loaded  bool
	damaged bool                    // what the file has can't be read: write it anew
	stored  map[string]storedWindow // of windows that are not open
	opened  map[string]*openWindow
	others  []asideEntry // of kinds that are not known here: kept
	stamp   uint64
	dropped int // windows that found no room
}

type storedWindow struct {
	stamp uint64
	b     []byte
}

type openWindow struct {
	*Window
	stamp uint64
}

func newAside(traceBytes int64) *aside {
	return &aside{trace: newTraceLog(traceBytes), stored: map[string]storedWindow{}, opened: map[string]*openWindow{}}
}

// traceOf is the trace that a window is recorded in. One without a name is
// not.
func (a *aside) traceOf(name string) *traceLog {
	if name == "" {
		return nil
	}
	return a.trace
}

// open gives the window of w's name: the one that is open, where its options
// are the same, else w with what is remembered.
func (a *aside) open(db *DB, w *Window) *Window {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load(db)
	state := a.stored[w.name].b
	if o := a.opened[w.name]; o != nil {
		if reflect.DeepEqual(o.opts, w.opts) {
			return o.Window
		}
		state = o.save(0)
		o.mu.Lock()
		o.flushTrace()
		o.mu.Unlock()
	}
	if state != nil {
		s, err := decodeState(state)
		if err == nil {
			err = w.restore(&s)
		}
		if err != nil {
			db.log.Warn("a window begins empty: what was remembered of it is of no use", "window", w.name, "err", err)
		}
	}
	w.faults.Lock()
	w.learn()
	w.faults.Unlock()
	a.stamp++
	a.opened[w.name] = &openWindow{w, a.stamp}
	delete(a.stored, w.name)
	return w
}

// load reads the aside of the file, once. REQUIRES: mu.
func (a *aside) load(db *DB) {
	if a.loaded {
		return
	}
	a.loaded = true
	b, err := db.readAside()
	var entries []asideEntry
	if err == nil {
		entries, err = decodeAside(b)
	}
	if err != nil {
		a.damaged = true
		db.log.Warn("what was remembered of windows can't be read; they begin empty", "err", err)
		return
	}
	for _, e := range entries {
		if err := a.take(e); err != nil {
			db.log.Warn("an entry of what was remembered of windows can't be read", "kind", e.kind, "err", err)
		}
	}
}

func (a *aside) take(e asideEntry) error {
	switch e.kind {
	case asideWindow:
		s, err := decodeState(e.b)
		if err != nil {
			return err
		}
		a.stored[s.name] = storedWindow{s.stamp, e.b}
		a.stamp = max(a.stamp, s.stamp)
	case asideTrace:
		t, err := decodeTrace(e.b)
		if err != nil || a.trace == nil {
			return err
		}
		a.trace.mu.Lock()
		defer a.trace.mu.Unlock()
		a.trace.chunks, a.trace.size, a.trace.next, a.trace.dropped = t.chunks, t.size, t.next, t.dropped
		a.trace.shrink(a.trace.limit)
		a.trace.spare = nil // it is a part of what was read
	default:
		a.others = append(a.others, e)
	}
	return nil
}

// readAside reads the bytes that the root names. A reader may find that they
// have moved; then it looks at the file again.
func (db *DB) readAside() ([]byte, error) {
	for {
		v := db.view.Load()
		r := v.root
		if r.AsideOffset == 0 {
			return nil, nil
		}
		b, err := db.read(r.AsideOffset, r.AsideLength)
		if err == nil && format.Hash(b) != r.AsideSum {
			err = format.Corruptf("aside", r.AsideOffset, "its %d bytes differ from the root's sum", r.AsideLength)
		}
		if err == nil || db.writer != nil {
			return b, err
		}
		if changed, rerr := db.refresh(v); rerr != nil || !changed {
			return nil, errors.Join(err, rerr)
		}
	}
}

// collect gathers what windows have recorded, and returns the trace; nil: it is
// off.
func (a *aside) collect(db *DB) *traceLog {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !db.closed.Load() {
		a.load(db)
	}
	for _, w := range a.opened {
		w.mu.Lock()
		w.flushTrace()
		w.mu.Unlock()
	}
	return a.trace
}

// encode lays out the aside. Where it would be too large, the oldest events are
// left out first, then the windows that were opened longest ago. REQUIRES: mu,
// loaded.
func (a *aside) encode() (b []byte, dropped int) {
	type state struct {
		stamp uint64
		b     []byte
	}
	var states []state
	for _, s := range a.stored {
		states = append(states, state(s))
	}
	for _, w := range a.opened {
		states = append(states, state{w.stamp, w.save(w.stamp)})
	}
	slices.SortFunc(states, func(a, b state) int { return cmp.Compare(b.stamp, a.stamp) })
	for _, e := range a.others {
		b = appendAsideEntry(b, e.kind, e.b)
	}
	for _, s := range states {
		if next := appendAsideEntry(b, asideWindow, s.b); len(next) <= format.MaxAside {
			b = next
		} else {
			dropped++
		}
	}
	return a.encodeTrace(b), dropped
}

func (a *aside) encodeTrace(b []byte) []byte {
	const head = 64 // more than the entry and the trace begin with
	if a.trace == nil || len(b)+head > format.MaxAside {
		return b
	}
	for _, w := range a.opened {
		w.mu.Lock()
		w.flushTrace()
		w.mu.Unlock()
	}
	a.trace.mu.Lock()
	defer a.trace.mu.Unlock()
	if len(a.trace.chunks) == 0 {
		return b
	}
	return appendAsideEntry(b, asideTrace, a.trace.encode(nil, int64(format.MaxAside-len(b)-head)))
}

// changed reports whether the aside is not what the file says, and what it is.
func (a *aside) changed(db *DB) (b []byte, changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := db.view.Load()
	if !a.loaded || len(a.opened)+len(a.stored) == 0 && v.root.AsideOffset == 0 || v.nextID == 1 {
		return nil, false
	}
	b, dropped := a.encode()
	if dropped > a.dropped {
		db.log.Warn("states of windows found no room in the file", "windows", dropped, "limit", format.MaxAside)
	}
	a.dropped = dropped
	return b, a.damaged || int64(len(b)) != v.root.AsideLength || len(b) > 0 && format.Hash(b) != v.root.AsideSum
}

// Windows lists the names of the windows that the file remembers or that are
// open, sorted.
func (db *DB) Windows() []string {
	a := db.aside
	a.mu.Lock()
	defer a.mu.Unlock()
	if !db.closed.Load() {
		a.load(db)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(a.stored)), maps.Keys(a.opened))
	slices.Sort(names)
	return names
}

// DropWindow forgets the window of a name; a Window of it that is open goes on
// without a memory. It is durable when windows are written the next time (see
// DB.Window). ErrNotFound: there is none. ErrReadOnly, ErrClosed.
func (db *DB) DropWindow(name string) error {
	if err := db.writable(); err != nil {
		return fmt.Errorf("drop window %q: %w", name, err)
	}
	a := db.aside
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load(db)
	_, stored := a.stored[name]
	if !stored && a.opened[name] == nil {
		return fmt.Errorf("drop window %q: %w", name, ErrNotFound)
	}
	delete(a.stored, name)
	delete(a.opened, name)
	return nil
}
