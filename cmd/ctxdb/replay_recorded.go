package main

import (
	"fmt"
	"slices"
	"strings"

	"ctxdb/cache/replay"
	"ctxdb/engine"
)

// recorded is what a window itself did, as far as its trace goes back.
type recorded struct {
	Window    string `json:"window"`
	Refs      int64  `json:"references"`
	Faults    int64  `json:"faults"` // references that faulted
	Evictions int64  `json:"evictions"`
	Dropped   uint64 `json:"events_dropped"` // of all windows, for want of room
}

// recordedTrace is what a window of a file was asked for: a plain trace, each reference a
// step. What was asked for by part needs that part only.
func recordedTrace(db *engine.DB, window string, r *replayReport) (*replay.Trace, error) {
	events, err := eventsOf(db, window)
	if err != nil {
		return nil, err
	}
	r.Source = fmt.Sprintf("window %q of %s", events[0].Window, db.Path())
	r.Recorded = &recorded{Window: events[0].Window, Dropped: db.TraceStats().Dropped}
	c := converter{db: db, items: map[engine.TurnID]replay.Item{}, parts: partSizes(events)}
	hit := true // the reference that was last
	for _, e := range events {
		switch e.Kind {
		case engine.TraceRef:
			hit = true
			r.Recorded.Refs++
			c.add(e)
		case engine.TraceFault:
			if hit {
				r.Recorded.Faults++
			}
			hit = false
		case engine.TraceEvict:
			r.Recorded.Evictions++
		}
	}
	c.trace.Name, c.trace.IsPlain, c.trace.Items = events[0].Window, true, len(c.items)
	return &c.trace, nil
}

// eventsOf are the events of one window.
func eventsOf(db *engine.DB, window string) ([]engine.TraceEvent, error) {
	byWindow := map[string][]engine.TraceEvent{}
	names := []string{}
	for e, err := range db.Trace() {
		if err != nil {
			continue // a damaged piece of a trace is a gap in it, and verify names it
		}
		if _, ok := byWindow[e.Window]; !ok {
			names = append(names, e.Window)
		}
		byWindow[e.Window] = append(byWindow[e.Window], e)
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s: its windows recorded nothing; only programs that use a window record; `ctxdb replay --from-session FILE` infers references from its turns", db.Path())
	case window == "" && len(names) > 1:
		return nil, fmt.Errorf("%s: windows %s recorded references; choose one with --window", db.Path(), quoteAll(names))
	case window == "":
		return byWindow[names[0]], nil
	}
	if events := byWindow[window]; len(events) > 0 {
		return events, nil
	}
	return nil, fmt.Errorf("%s: window %q: %w; windows %s recorded references", db.Path(), window, engine.ErrNotFound, quoteAll(names))
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, ", ")
}

// partKey names a part of a turn.
type partKey struct {
	id   engine.TurnID
	part int
}

// partSizes gathers how large the parts were that were named alone.
func partSizes(events []engine.TraceEvent) map[partKey]int64 {
	sizes := map[partKey]int64{}
	for _, e := range events {
		if e.Part >= 0 {
			sizes[partKey{e.ID, e.Part}] = int64(e.Tokens)
		}
	}
	return sizes
}

// converter makes references of events.
type converter struct {
	db    *engine.DB
	trace replay.Trace
	items map[engine.TurnID]replay.Item
	sizes []int64 // by item
	parts map[partKey]int64
}

func (c *converter) add(e engine.TraceEvent) {
	item, ok := c.items[e.ID]
	if !ok {
		item = replay.Item(len(c.sizes))
		c.items[e.ID] = item
		c.sizes = append(c.sizes, c.whole(e))
	}
	size := c.sizes[item]
	ref := replay.Ref{Step: replay.Step(len(c.trace.Refs)), Item: item, Size: size}
	if from := c.offset(e.ID, e.Part); e.Part >= 0 && from < size {
		ref.From, ref.To = from, min(size, from+max(1, int64(e.Tokens)))
	}
	c.trace.Refs = append(c.trace.Refs, ref)
}

// whole is the size of a turn of which an event names all or a part.
func (c *converter) whole(e engine.TraceEvent) int64 {
	if e.Part < 0 {
		return max(1, int64(e.Tokens))
	}
	if t, err := c.db.Get(e.ID); err == nil {
		return max(1, int64(t.Tokens))
	}
	size := c.offset(e.ID, e.Part) + int64(e.Tokens) // the turn is gone: what is known of it
	for part := e.Part + 1; c.parts[partKey{e.ID, part}] > 0; part++ {
		size += c.parts[partKey{e.ID, part}]
	}
	return max(1, size)
}

// offset is where a part begins. One in front of it that was never named counts like an
// ordinary page.
func (c *converter) offset(id engine.TurnID, part int) (at int64) {
	for p := range max(0, part) {
		size, ok := c.parts[partKey{id, p}]
		if !ok {
			size = replay.DefaultPageSize
		}
		at += size
	}
	return at
}
