package engine

import (
	"context"
	"fmt"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// merge goes through the ids and takes each turn from the best copy that still
// has it. Copies are read side by side; worse ones only where better ones fail.
type merge struct {
	f        *findings
	r        *SalvageReport
	all      []*copyOf // by first id
	active   []*copyOf // those around the id, best first
	begun    int       // all[:begun] were active or are
	promised uint64    // ids from here on were perhaps never acknowledged; 0: nothing says so
	progress func(done, total int64)
}

// salvaged is where the turns go.
type salvaged interface {
	add(id uint64, t segment.Turn, unconfirmed bool) (kept bool, reason string, err error)
	lose(first, count uint64)
	finish(nextID uint64) error
}

func newMerge(f *findings, r *SalvageReport) *merge {
	m := &merge{f: f, r: r, all: f.copies(r)}
	for i := range f.supers {
		m.promised = max(m.promised, f.supers[i].NextID)
	}
	if m.promised == 0 {
		return m
	}
	for _, c := range m.all {
		if c.class <= classLog || c.class == classOldLog {
			m.promised = max(m.promised, c.end)
		}
	}
	return m
}

// run hands every turn and every gap to out, in the order of their ids.
func (m *merge) run(ctx context.Context, out salvaged) error {
	defer func() {
		for _, c := range m.all {
			c.close()
		}
	}()
	for id := uint64(1); id < m.f.nextID; {
		m.activate(id)
		c, err := m.pick(ctx, id)
		if err != nil {
			return err
		}
		if c == nil {
			end := m.nextCandidate(id)
			reason, offset := m.why(id)
			m.lose(out, id, end-id, reason, offset)
			id = end
			continue
		}
		if err := m.take(ctx, out, id, c); err != nil {
			return err
		}
		if id++; id%4096 == 0 {
			m.progress(int64(id), int64(m.f.nextID))
		}
	}
	m.r.NextID = TurnID(m.f.nextID)
	if m.r.Kept == 0 {
		return fmt.Errorf("%w: %d segments and %d log frames were found, no turn of them is readable", ErrNothingSalvaged, m.r.Segments, m.r.Frames)
	}
	m.progress(int64(m.f.nextID), int64(m.f.nextID))
	return out.finish(m.f.nextID)
}

// activate keeps the copies around an id at hand.
func (m *merge) activate(id uint64) {
	m.active = slices.DeleteFunc(m.active, func(c *copyOf) bool {
		if c.end <= id {
			c.close()
		}
		return c.end <= id
	})
	for ; m.begun < len(m.all) && m.all[m.begun].first <= id; m.begun++ {
		if c := m.all[m.begun]; c.end > id {
			i, _ := slices.BinarySearchFunc(m.active, c, (*copyOf).better)
			m.active = slices.Insert(m.active, i, c)
		}
	}
}

// pick returns the best copy that has the turn and may be believed.
func (m *merge) pick(ctx context.Context, id uint64) (*copyOf, error) {
	for i, c := range m.active {
		if err := c.seek(ctx, id); err != nil {
			return nil, err
		}
		if c.head.ID != id {
			continue
		}
		if i > 0 {
			if ok, err := m.believe(ctx, c, id); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
		}
		return c, nil
	}
	return nil, nil
}

// nextCandidate is the next id that any copy may have.
func (m *merge) nextCandidate(id uint64) uint64 {
	end := m.f.nextID
	if m.begun < len(m.all) {
		end = min(end, m.all[m.begun].first)
	}
	for _, c := range m.active {
		switch {
		case c.head.ID == id:
			return id + 1 // it has the turn and is not believed
		case c.head.ID > id:
			end = min(end, c.head.ID)
		}
		if c.end > id {
			end = min(end, c.end) // who is best changes here, and with it the reason
		}
		for _, l := range c.lost {
			if l.FirstID > id {
				end = min(end, l.FirstID) // another reason
			}
		}
	}
	return max(end, id+1)
}

// why says why an id is lost: what the best copy says that should have it.
func (m *merge) why(id uint64) (string, int64) {
	if len(m.active) > 0 {
		c := m.active[0]
		if c.head.ID == id {
			return c.what + " has a turn of this id that perhaps is another one", 0
		}
		reason, offset := c.why(id)
		if offset != 0 {
			offset += m.f.w.base
		}
		return reason, offset
	}
	for _, l := range m.f.recorded {
		if id >= l.FirstID && id < l.FirstID+l.Count {
			return "was lost before: the catalog says so", l.Offset
		}
	}
	return "nothing in the file holds it", 0
}

func (m *merge) lose(out salvaged, first, count uint64, reason string, offset int64) {
	out.lose(first, count)
	m.r.LostTurns += count
	m.r.Lost = addLost(m.r.Lost, first, count, reason, offset)
}

// take hands a turn out, with its source from another copy where this one has
// lost it.
func (m *merge) take(ctx context.Context, out salvaged, id uint64, c *copyOf) error {
	t, noSource := c.head, c.noSource
	older := c.class >= classOldLog && m.active[0] != c
	for _, d := range m.active {
		if d == c || noSource == nil && d.class != c.class {
			continue
		}
		if err := d.seek(ctx, id); err != nil {
			return err
		}
		switch {
		case d.head.ID != id:
		case d.head.Record.Sum != t.Record.Sum:
			if d.class == c.class {
				m.r.Conflicts = append(m.r.Conflicts, Conflict{ID: TurnID(id), Kept: c.what, Other: d.what})
			}
		case noSource != nil && d.noSource == nil:
			t, noSource, older = d.head, nil, true
		}
	}
	if noSource != nil {
		t = withoutSource(t)
	}
	unconfirmed := c.class == classLogTail || c.class == classLeftover || m.promised > 0 && id >= m.promised
	kept, reason, err := out.add(id, t, unconfirmed)
	if err != nil {
		return err
	}
	if !kept {
		m.lose(out, id, 1, reason, 0)
		return nil
	}
	m.note(id, noSource, unconfirmed, older)
	return nil
}

// note writes a kept turn into the report.
func (m *merge) note(id uint64, noSource error, unconfirmed, older bool) {
	m.r.Kept++
	m.r.KeptRanges = addID(m.r.KeptRanges, id)
	if unconfirmed {
		m.r.Unconfirmed = addID(m.r.Unconfirmed, id)
	}
	if older {
		m.r.FromOlderCopies = addID(m.r.FromOlderCopies, id)
	}
	if noSource != nil {
		reason, offset := damageOf(noSource)
		m.r.SourcesLost = addLost(m.r.SourcesLost, id, 1, reason, offset+m.f.w.base)
	}
}

// withoutSource is the turn as if it had come without a source.
func withoutSource(t segment.Turn) segment.Turn {
	stored := t.Record.Turn
	stored.Content, stored.Source = t.Content, nil
	t.Meta, t.Source = format.AppendMeta(nil, &stored), nil
	t.Record, _, _ = format.DecodeMeta(t.Meta, 0) // it was just made
	return t
}
