package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ctxdb/engine/hot"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/engine/vec"
	"ctxdb/format"
)

// Query says what to look for. The zero value of each filter admits everything.
// Records of role "meta" are found only where Roles names them.
type Query struct {
	Text     string // words, identifiers, paths, dates, names; what stands in double quotes must be there literally
	K        int    // 0: 10
	Thread   string
	Roles    []string
	Tags     []string  // all of them
	From, To time.Time // of the turn's time, both inclusive
	Vector   []float32 // beside or instead of Text: turns with an embedding, by cosine

	// VectorModel names the model that made Vector; it is compared with vectors
	// of that name and its dimension only. "": with those of turns that were
	// appended with an Embedding and no EmbeddingModel.
	VectorModel string
	// WordsOnly: Options.Embedder is not asked for a vector of Text.
	WordsOnly bool
}

// Found is what a search found, and how.
type Found struct {
	Hits     []Hit
	Compared int      // vectors that the question's was compared with; 0: words alone decided
	Notes    []string // what a caller should know: a model that did not answer, vectors that are missing or damaged
}

// Hit is a turn that was found.
type Hit struct {
	ID      TurnID
	Score   float64 // comparable within one search
	Tokens  int
	Role    string
	Thread  string
	Summary string
	Time    time.Time
}

const (
	defaultHits = 10
	maxHits     = 1000
	// fuseDepth is how deep two rankings are at least before they are joined:
	// what is far down in both may be near the top of all.
	fuseDepth = 50
	// phraseDepth is how many candidates are looked at for quoted phrases: those
	// that have the most telling of the phrase's words.
	phraseDepth = 1000
)

// Search finds the turns that a query is about, best first, by words, their
// neighbours in the thread, names and dates: BM25 as package rank describes it;
// with a vector, of the query or of Options.Embedder, by cosine too, the two
// rankings joined by reciprocal rank. It uses the indexes in the file and reads
// the content of a turn only where a quoted phrase has to be checked. What went
// wrong with a model is logged; Find says it.
//
// Errors: ErrCorrupt, ErrTruncated, ErrClosed, or the context's. Damage hides what
// it lies in and nothing more: the hits found without it are returned beside an
// error that says where it is.
func (db *DB) Search(ctx context.Context, q Query) ([]Hit, error) {
	found, err := db.Find(ctx, q)
	for _, n := range found.Notes {
		db.log.Warn("search", "note", n)
	}
	return found.Hits, err
}

// Find is Search, and says how it found. A model that fails, takes longer than
// Options.EmbedWait or answers nonsense, and vectors that are damaged, are passed
// over where there are words to go by. Errors are those of Search.
func (db *DB) Find(ctx context.Context, q Query) (Found, error) {
	found, err := db.find(ctx, q)
	if err != nil {
		return found, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

func (db *DB) find(ctx context.Context, q Query) (f Found, err error) {
	if db.writer == nil {
		if _, err := db.refresh(db.view.Load()); err != nil {
			return f, err
		}
	}
	db.askVector(ctx, &q, &f)
	var words, vectors harm
	err = db.do(func(v *view) (err error) {
		words, vectors = harm{}, harm{}
		if f.Hits, f.Compared, err = db.search(ctx, v, &q, &words, &vectors); err != nil {
			return err
		}
		return errors.Join(words.err(), vectors.err())
	})
	if len(vectors.errs) > 0 && len(words.errs) == 0 && q.Text != "" && isDamage(err) {
		f.note("vectors: %v; words decided where they are missing", err)
		err = nil
	}
	if err == nil && len(f.Notes) == 0 && len(q.Vector) > 0 && f.Compared == 0 && q.Text != "" {
		f.note("no turn has a vector of model %q with %d dimensions; words alone decided", q.VectorModel, len(q.Vector))
	}
	return f, err
}

func (f *Found) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// askVector has the Embedder make a vector of the question, where the file has
// any that it could be compared with.
func (db *DB) askVector(ctx context.Context, q *Query, f *Found) {
	e := db.opts.Embedder
	if e == nil || q.WordsOnly || q.Text == "" || len(q.Vector) > 0 || db.closed.Load() || ctx.Err() != nil {
		return
	}
	model, err := modelOf(e)
	if err != nil {
		f.note("embedder: %v; words alone decided", err)
		return
	}
	if !db.hasVectors(model) {
		f.note("no turn has a vector of model %q; words alone decided", model)
		return
	}
	vectors, err := vectorsOf(ctx, e, db.opts.EmbedWait, []string{q.Text})
	if err != nil {
		f.note("embedder: %v; words alone decided", err)
		return
	}
	q.Vector, q.VectorModel = vectors[0], model
}

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
		if i.terms != nil {
			p.parts = append(p.parts, i.terms)
			p.first = append(p.first, s.Entry().FirstID)
		}
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
	if q.Thread != "" {
		f.Keep = func(part int, ordinal uint32) bool {
			r, err := v.record(p.id(part, ordinal))
			return err == nil && r.Thread == q.Thread
		}
	}
	records, err := p.rank(parsed, f, depth, h)
	hits = append(hits, records...)
	best(hits)
	return hits[:min(depth, len(hits))], err
}

// search notes damage of vectors apart: no turn is concerned.
func (db *DB) search(ctx context.Context, v *view, q *Query, words, vectors *harm) (hits []Hit, compared int, err error) {
	k := q.K
	if k <= 0 {
		k = defaultHits
	}
	k = min(k, maxHits)
	wide := k
	if len(q.Vector) > 0 {
		wide = max(2*k, fuseDepth)
	}
	if hits, err = db.byText(ctx, v, q, wide, words); err != nil {
		return nil, 0, err
	}
	if len(q.Vector) > 0 {
		var near []Hit
		if near, compared, err = db.byVector(ctx, v, q, wide, vectors); err != nil {
			return nil, 0, err
		}
		switch {
		case q.Text == "":
			hits = near[:min(k, len(near))]
		case len(near) > 0:
			hits = fuse(hits, near, k)
		}
		hits = hits[:min(k, len(hits))]
	}
	hits, err = db.fill(v, q, hits, words)
	return hits, compared, err
}

// byText finds the k turns that a text is about.
func (db *DB) byText(ctx context.Context, v *view, q *Query, k int, h *harm) ([]Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p, err := db.parts(v, h)
	if err != nil || q.Text == "" {
		return nil, err
	}
	parsed := lex.Parse(q.Text, nil)
	depth := k
	if len(parsed.Phrases) > 0 {
		depth = max(k, phraseDepth)
	}
	found, err := p.find(v, parsed, q, depth, h)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, min(len(found), k))
	for _, f := range found {
		if len(hits) == k || ctx.Err() != nil {
			break
		}
		if uint64(f.ID) >= v.nextID {
			continue // a newer search has carried the log's index on already
		}
		ok, err := db.hasPhrases(v, uint64(f.ID), parsed.Phrases)
		if err != nil && !h.note(err) {
			return nil, err
		}
		if ok {
			hits = append(hits, f)
		}
	}
	return hits, nil
}

// indexError makes damage of an index ErrCorrupt.
func indexError(err error) error {
	if errors.Is(err, rank.ErrCorrupt) || errors.Is(err, hot.ErrCorrupt) || errors.Is(err, vec.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
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
	if i.lines == nil { // sealed by a program that makes no hot entries
		t, err := s.Turn(id)
		if err != nil {
			return hot.Entry{}, err
		}
		return hotEntry(&t, t.Content), nil
	}
	e, err := i.lines.Entry(int(id - s.Entry().FirstID))
	return e, indexError(err)
}
