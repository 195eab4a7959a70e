package engine

import (
	"errors"
	"fmt"

	"ctxdb/engine/hot"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/engine/vec"
	"ctxdb/format"
)

// indexError makes damage of an index ErrCorrupt, and one that another program
// made in its own way ErrVersion.
func indexError(err error) error {
	if errors.Is(err, rank.ErrCorrupt) || errors.Is(err, hot.ErrCorrupt) || errors.Is(err, vec.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if errors.Is(err, rank.ErrVersion) || errors.Is(err, hot.ErrVersion) || errors.Is(err, vec.ErrVersion) {
		return fmt.Errorf("%w: %w", ErrVersion, err)
	}
	return err
}

// hasPhrases reports whether every quoted phrase stands in the content.
func (db *DB) hasPhrases(v *view, id uint64, phrases []string) (bool, error) {
	if len(phrases) == 0 {
		return true, nil
	}
	content, err := v.content(nil, id)
	if err != nil {
		return false, err
	}
	return lex.HasPhrases(content, phrases), nil
}

// fill adds what the hot index knows of the hits, and drops those of which
// nothing can be read. The index knows times to the second, and threads and tags
// by a hash: the filters are held against the turn once more.
func (db *DB) fill(v *view, q *Query, hits []Hit, harm *harm) ([]Hit, error) {
	kept := hits[:0]
	for _, h := range hits {
		r, err := v.record(uint64(h.ID))
		if err != nil {
			if harm.note(fmt.Errorf("#%d: %w", h.ID, err)) {
				continue
			}
			return nil, err
		}
		if !q.admits(&r.Turn) {
			continue
		}
		e, err := db.hotEntry(v, uint64(h.ID))
		if err != nil && !harm.note(fmt.Errorf("summary of #%d: %w", h.ID, err)) {
			return nil, err
		}
		h.Tokens, h.Role, h.Thread, h.Time, h.Summary = int(r.Tokens), r.Role, r.Thread, r.Time, e.Summary
		kept = append(kept, h)
	}
	return kept, nil
}

// hotEntry is the line of the hot index about a turn.
func (db *DB) hotEntry(v *view, id uint64) (hot.Entry, error) {
	if l := v.loggedOf(id); l != nil {
		rec, _, err := format.DecodeMeta(l.record, l.at)
		if err != nil {
			return hot.Entry{}, err
		}
		return hotEntry(&rec.Turn, l.content()), nil
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return hot.Entry{}, v.absent(id)
	}
	i, err := db.index.of(s)
	if err != nil {
		return hot.Entry{}, err
	}
	if i.lines == nil { // sealed by a program that makes none, or others
		t, err := s.Turn(id)
		if err != nil {
			return hot.Entry{}, err
		}
		return hotEntry(&t, t.Content), nil
	}
	e, err := i.lines.Entry(int(id - s.Entry().FirstID))
	return e, indexError(err)
}
