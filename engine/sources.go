package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Sources is Turns with the Source of each turn, read along with it: each block
// is decoded once. A turn whose source can't be read comes beside the error.
func (db *DB) Sources(from, to TurnID) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		db.each(from, to, true, yield)
	}
}

// each hands out turns as Turns and Sources promise.
func (db *DB) each(from, to TurnID, sources bool, yield func(Turn, error) bool) {
	end, err := db.end()
	if err != nil {
		yield(Turn{}, fmt.Errorf("turns: %w", err))
		return
	}
	if to != 0 {
		end = min(end, to)
	}
	for id := max(from, 1); id < end; {
		next, more := db.yieldSegment(id, end, sources, yield)
		if !more {
			return
		}
		if next > id {
			id = next
			continue
		}
		t, err := db.Get(id)
		t.ID = id
		if err == nil && sources {
			t.Source, err = db.Source(id)
		}
		if !yield(t, err) || errors.Is(err, ErrClosed) {
			return
		}
		id++
	}
}

// yieldSegment hands out the turns of the segment that begins with id, decoding
// each block once. It stops in front of a turn that can't be read; next is that
// one, or the one behind the segment.
func (db *DB) yieldSegment(id, end TurnID, sources bool, yield func(Turn, error) bool) (next TurnID, more bool) {
	v := db.view.Load()
	s := v.segmentOf(uint64(id))
	if s == nil || db.closed.Load() || s.Entry().FirstID != uint64(id) || s.Entry().EndID() > uint64(end) {
		return id, true
	}
	for t, err := range s.All(context.Background()) {
		if err != nil || TurnID(t.ID) != id {
			return id, true
		}
		stored := t.Record.Turn
		stored.Content = t.Content
		turn := fromStored(t.ID, &stored)
		if sources {
			turn.Source = t.Source
		}
		if !yield(turn, nil) {
			return id, false
		}
		id++
	}
	return id, true
}
