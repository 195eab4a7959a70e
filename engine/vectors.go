package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ctxdb/engine/vec"
	"ctxdb/format"
)

const (
	// exactFactor is how many times as many candidates as hits are compared
	// exactly, behind a scan of 8-bit vectors.
	exactFactor = 4
	// fusion is the constant of reciprocal rank fusion: Cormack, Clarke and
	// Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual
	// Rank Learning Methods, 2009.
	fusion = 60
	// exactInterval candidates are looked at between two looks at the context.
	exactInterval = 4096
)

// byVector finds the k turns whose vectors are nearest to the query's, by
// cosine: exactly where the turn holds its embedding, else as 8 bits keep it. It
// compares every vector of the query's model, and says how many those are.
func (db *DB) byVector(ctx context.Context, v *view, q *Query, k int, h *harm) (hits []Hit, compared int, err error) {
	s := scan{db: db, v: v, q: q, harm: h}
	for _, part := range []func(context.Context) error{s.segments, s.runs, s.logs} {
		if err := part(ctx); err != nil {
			return nil, 0, err
		}
	}
	best(s.near)
	hits, err = db.exact(ctx, v, q, s.near, k, h)
	return hits, len(s.near), err
}

// scan compares a query's vector with those of a view.
type scan struct {
	db   *DB
	v    *view
	q    *Query
	harm *harm
	near []Hit
}

func (s *scan) note(id uint64, cosine float64) {
	if id < s.v.nextID {
		s.near = append(s.near, Hit{ID: TurnID(id), Score: finite(cosine)})
	}
}

// compare scans the vectors of turns from first on; nil: there are none.
func (s *scan) compare(vectors *vec.Reader, first uint64) error {
	if vectors == nil {
		return nil
	}
	return indexError(vectors.Scan(s.q.VectorModel, s.q.Vector, func(o uint32, c float64) { s.note(first+uint64(o), c) }))
}

// segments scans the embeddings that turns came with.
func (s *scan) segments(ctx context.Context) error {
	for _, x := range s.v.segs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		i, err := s.db.index.of(x)
		if err == nil {
			if why := i.foreign[format.SectionVectors]; why != nil {
				s.harm.unseen.add(x, why)
			}
			err = s.compare(i.vectors, x.Entry().FirstID)
		}
		if err != nil && !s.harm.note(err) {
			return err
		}
	}
	return nil
}

// runs scans the vectors that were made later.
func (s *scan) runs(ctx context.Context) error {
	hash := format.Hash([]byte(s.q.VectorModel))
	for _, r := range s.v.vectors {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e := r.Entry(); e.Model != hash || int(e.Dims) != len(s.q.Vector) {
			continue
		}
		vectors, err := r.open()
		if errors.Is(err, ErrVersion) {
			e := r.Entry()
			s.harm.unseen.count(e.FirstID, e.EndID, uint64(e.Vectors), err)
			continue
		}
		if err == nil {
			err = s.compare(vectors, r.Entry().FirstID)
		}
		if err != nil && !s.harm.note(err) {
			return err
		}
	}
	return nil
}

// logs compares the embeddings of turns that are only logged.
func (s *scan) logs(ctx context.Context) error {
	for i := range s.v.logs {
		r := &s.v.logs[i]
		for j := range r.turns {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			rec, _, err := format.DecodeMeta(r.turns[j].record, r.turns[j].at)
			if err != nil {
				return err
			}
			if rec.Model != s.q.VectorModel {
				continue
			}
			if c := vec.Cosine(s.q.Vector, rec.Embedding); c != 0 {
				s.note(r.first+uint64(j), c)
			}
		}
	}
	return nil
}

// exact compares the nearest candidates that the filters admit with what their
// turns hold themselves.
func (db *DB) exact(ctx context.Context, v *view, q *Query, near []Hit, k int, harm *harm) ([]Hit, error) {
	var hits []Hit
	for i, h := range near {
		if len(hits) == exactFactor*k {
			break
		}
		if i%exactInterval == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rec, err := v.record(uint64(h.ID))
		if err != nil {
			if harm.note(fmt.Errorf("#%d: %w", h.ID, err)) {
				continue
			}
			return nil, err
		}
		if !q.admits(&rec.Turn) || slices.ContainsFunc(hits, func(o Hit) bool { return o.ID == h.ID }) {
			continue
		}
		if rec.Model == q.VectorModel && len(rec.Embedding) == len(q.Vector) {
			h.Score = finite(vec.Cosine(q.Vector, rec.Embedding))
		}
		hits = append(hits, h)
	}
	best(hits)
	return hits[:min(k, len(hits))], nil
}

// admits holds a turn against the filters.
func (q *Query) admits(t *format.Turn) bool {
	switch {
	case q.Thread != "" && t.Thread != q.Thread,
		len(q.Roles) > 0 && !slices.Contains(q.Roles, t.Role),
		len(q.Roles) == 0 && t.Role == RoleMeta,
		slices.ContainsFunc(q.Tags, func(tag string) bool { return !slices.Contains(t.Tags, tag) }),
		!q.From.IsZero() && (t.Time.IsZero() || t.Time.Before(q.From)),
		!q.To.IsZero() && (t.Time.IsZero() || t.Time.After(q.To)):
		return false
	}
	return true
}

// best sorts hits by score; of equal ones the later turn comes first.
func best(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
	})
}

// fuse joins two rankings by reciprocal rank; what is first in both scores 1.
func fuse(a, b []Hit, k int) []Hit {
	score := map[TurnID]float64{}
	for _, ranking := range [][]Hit{a, b} {
		for i, h := range ranking {
			score[h.ID] += (fusion + 1) / 2.0 / float64(fusion+i+1)
		}
	}
	all := make([]Hit, 0, len(score))
	for id, s := range score {
		all = append(all, Hit{ID: id, Score: s})
	}
	best(all)
	return all[:min(k, len(all))]
}
