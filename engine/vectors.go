package engine

import (
	"cmp"
	"context"
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
)

// byVector finds the k turns whose embeddings are nearest to the query's, by
// exact cosine over candidates from a scan of every vector.
func (db *DB) byVector(ctx context.Context, v *view, q *Query, k int) ([]Hit, error) {
	var near []Hit
	note := func(id uint64, cosine float64) { near = append(near, Hit{ID: TurnID(id), Score: cosine}) }
	for _, s := range v.segs {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		i, err := db.index.of(s)
		if err != nil {
			return nil, err
		}
		if i.vectors == nil {
			continue
		}
		first := s.Entry().FirstID
		if err := i.vectors.Scan(q.Vector, func(o uint32, c float64) { note(first+uint64(o), c) }); err != nil {
			return nil, indexError(err)
		}
	}
	for i := range v.logs {
		r := &v.logs[i]
		for j := range r.turns {
			rec, _, err := format.DecodeMeta(r.turns[j].record, r.turns[j].at)
			if err != nil {
				return nil, err
			}
			if c := vec.Cosine(q.Vector, rec.Embedding); c != 0 {
				note(r.first+uint64(j), c)
			}
		}
	}
	best(near)
	return db.exact(v, q, near, k)
}

// exact compares the embeddings of the nearest candidates that the filters
// admit.
func (db *DB) exact(v *view, q *Query, near []Hit, k int) ([]Hit, error) {
	var hits []Hit
	for _, h := range near {
		if len(hits) == exactFactor*k {
			break
		}
		rec, err := v.record(uint64(h.ID))
		if err != nil {
			return nil, err
		}
		if !q.admits(&rec.Turn) {
			continue
		}
		h.Score = vec.Cosine(q.Vector, rec.Embedding)
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

// fuse joins two rankings by reciprocal rank.
func fuse(a, b []Hit, k int) []Hit {
	score := map[TurnID]float64{}
	for _, ranking := range [][]Hit{a, b} {
		for i, h := range ranking {
			score[h.ID] += 1 / float64(fusion+i+1)
		}
	}
	all := make([]Hit, 0, len(score))
	for id, s := range score {
		all = append(all, Hit{ID: id, Score: s})
	}
	best(all)
	return all[:min(k, len(all))]
}
