package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ctxdb/engine/lex"
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
	Notes    []string // what a caller should know: a model that did not answer, vectors that are missing or damaged, turns without an index that this program reads
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
	err = db.doSettled(func(v *view) (err error) {
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
	if q.Text == "" {
		words.unseen = unseen{} // nobody asked for words
	}
	for _, n := range []string{words.unseen.note("words"), vectors.unseen.note("vectors")} {
		if n != "" {
			f.note("%s", n)
		}
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
		if len(hits) == k {
			break
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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
