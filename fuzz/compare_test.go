package fuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"ctxdb/engine"
)

var ctx = context.Background()

// compare holds everything that can be read against the first n turns of the
// model. Iterating covers all turns; the other ways of reading cover those
// with id % every == 0, and the last ones.
func (m *Model) compare(db *engine.DB, n, every int) error {
	if got := int(db.Stats().NextID) - 1; got != n {
		return fmt.Errorf("%d turns, want %d", got, n)
	}
	if lost := db.Recovery().Lost; lost > 0 {
		return fmt.Errorf("%d turns lost", lost)
	}
	seen := 0
	for t, err := range db.Turns(1, 0) {
		if err != nil {
			return fmt.Errorf("turn %d of the iteration: %w", seen+1, err)
		}
		if seen >= n {
			return fmt.Errorf("phantom: the iteration yields turn %d of %d", t.ID, n)
		}
		if err := sameTurn(m.turns[seen], t); err != nil {
			return fmt.Errorf("iteration: %w", err)
		}
		seen++
	}
	if seen != n {
		return fmt.Errorf("the iteration yields %d turns of %d", seen, n)
	}
	for i := range n {
		if i%every == 0 || i >= n-3 {
			if err := m.compareTurn(db, &m.turns[i]); err != nil {
				return err
			}
		}
	}
	return m.nothingElse(db, n)
}

// compareTurn reads one turn in every way.
func (m *Model) compareTurn(db *engine.DB, want *engine.Turn) error {
	got, err := db.Get(want.ID)
	if err == nil {
		err = sameTurn(*want, got)
	}
	if err != nil {
		return fmt.Errorf("get %d: %w", want.ID, err)
	}
	source, err := db.Source(want.ID)
	if err != nil || !bytes.Equal(source, want.Source) || (source == nil) != (want.Source == nil) {
		return fmt.Errorf("source of %d: %d bytes for %d, %w", want.ID, len(source), len(want.Source), err)
	}
	content, err := db.AppendContent([]byte("x"), want.ID)
	if err != nil || !bytes.Equal(content[1:], want.Content) {
		return fmt.Errorf("content of %d: %d bytes for %d, %w", want.ID, len(content)-1, len(want.Content), err)
	}
	if want.Key != "" {
		if id, err := db.Lookup(want.Key); err != nil || id != want.ID {
			return fmt.Errorf("key %q leads to %d for %d: %w", want.Key, id, want.ID, err)
		}
	}
	return nil
}

// nothingElse: ids beyond the last, and keys of turns that were not kept, are
// not found.
func (m *Model) nothingElse(db *engine.DB, n int) error {
	absent := []string{"no such key"}
	for _, t := range m.turns[n:] {
		if t.Key != "" {
			absent = append(absent, t.Key)
		}
	}
	for _, key := range absent {
		if id, err := db.Lookup(key); !errors.Is(err, engine.ErrNotFound) {
			return fmt.Errorf("key %q, which no turn has, leads to %d: %w", key, id, err)
		}
	}
	for _, id := range []engine.TurnID{0, engine.TurnID(n) + 1, engine.TurnID(n) + 2, 1 << 39} {
		if _, err := db.Get(id); !errors.Is(err, engine.ErrNotFound) {
			return fmt.Errorf("get %d beyond the last turn %d: %w", id, n, err)
		}
	}
	return nil
}

// verified is the first finding of Verify, as an error. slots: a superblock
// slot that is torn counts too.
func verified(db *engine.DB, slots bool) error {
	for f, err := range db.Verify(ctx) {
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if slots || f.Region != "superblock" {
			return fmt.Errorf("verify: %s at %d: %w", f.Region, f.Offset, f.Err)
		}
	}
	return nil
}
