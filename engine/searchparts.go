package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/format"
)

// parts is the view's index, and the first id of each part.
type parts struct {
	parts []rank.Part
	first []uint64
}

func (db *DB) parts(v *view, h *harm) (p parts, err error) {
	db.index.forget(v)
	for _, s := range v.segs {
		i, err := db.index.of(s)
		if err != nil {
			if h.note(fmt.Errorf("turns #%d to #%d: %w", s.Entry().FirstID, s.Entry().EndID()-1, err)) {
				continue
			}
			return parts{}, err
		}
		if i.terms == nil {
			h.unseen.add(s, i.foreign[format.SectionTerms])
			continue
		}
		p.parts = append(p.parts, i.terms)
		p.first = append(p.first, s.Entry().FirstID)
	}
	for i := range v.logs {
		part, err := db.index.part(&v.logs[i])
		if err != nil {
			return parts{}, err
		}
		p.parts = append(p.parts, part)
		p.first = append(p.first, v.logs[i].first)
	}
	return p, nil
}

// rank searches the parts, leaving damaged ones out.
func (p *parts) rank(q lex.Query, f rank.Filter, depth int, h *harm) ([]Hit, error) {
	for {
		model := rank.Default
		found, err := model.Search(p.parts, q, f, depth)
		var bad *rank.PartError
		if err == nil {
			hits := make([]Hit, len(found))
			for i, x := range found {
				hits[i] = Hit{ID: TurnID(p.id(x.Part, x.Ordinal)), Score: x.Score}
			}
			return hits, nil
		}
		if !errors.As(err, &bad) {
			return nil, indexError(err)
		}
		if err = indexError(bad.Err); !h.note(fmt.Errorf("turns from #%d on: %w", p.first[bad.Part], err)) {
			return nil, err
		}
		p.parts = slices.Delete(p.parts, bad.Part, bad.Part+1)
		p.first = slices.Delete(p.first, bad.Part, bad.Part+1)
	}
}

func (p *parts) id(part int, ordinal uint32) uint64 { return p.first[part] + uint64(ordinal) }

// find ranks the turns that the filters admit, the best depth of them first.
// Records of role meta are in a thread of their own, and searched by themselves.
func (p *parts) find(v *view, parsed lex.Query, q *Query, depth int, h *harm) (hits []Hit, err error) {
	f := rank.Filter{Thread: q.Thread, Except: metaThread, Roles: q.Roles, From: q.From, To: q.To}
	for _, tag := range q.Tags {
		f.Must = append(f.Must, lex.TagTerm(tag))
	}
	meta := slices.Contains(q.Roles, RoleMeta)
	if !meta || len(q.Roles) > 1 {
		if hits, err = p.rank(parsed, f, depth, h); err != nil || !meta {
			return hits, err
		}
	}
	f.Thread, f.Roles = metaThread, nil
	var unread unreadable
	if q.Thread != "" {
		f.Keep = func(part int, ordinal uint32) bool {
			id := p.id(part, ordinal)
			r, err := v.record(id)
			if err != nil {
				unread.add(fmt.Errorf("#%d: %w", id, err))
			}
			return err == nil && r.Thread == q.Thread
		}
	}
	records, err := p.rank(parsed, f, depth, h)
	for _, failed := range unread.errs {
		if err == nil && !h.note(failed) {
			err = failed
		}
	}
	hits = append(hits, records...)
	best(hits)
	return hits[:min(depth, len(hits))], err
}

// unreadable gathers why a filter can't read turns, which several goroutines ask.
type unreadable struct {
	mu   sync.Mutex
	errs []error
}

func (u *unreadable) add(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.errs = append(u.errs, err)
}
