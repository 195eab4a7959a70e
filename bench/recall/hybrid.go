package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ctxdb/engine"
	"ctxdb/engine/openai"
)

// model names the endpoint that makes vectors; no url: none.
type model struct {
	url, name, keyEnv string
	dimensions        int
}

func (m *model) embedder() (engine.Embedder, error) {
	if m.url == "" {
		return nil, nil
	}
	e, err := openai.NewEmbedder(openai.Config{URL: m.url, Model: m.name, Dimensions: m.dimensions, Key: os.Getenv(m.keyEnv)})
	if err != nil {
		return nil, err
	}
	return e, nil
}

const (
	mostHits     = 1000 // of one search, by the engine's limit
	askedAtOnce  = 64   // questions that the model gets in one request
	benchmarkKey = "CTXDB_API_KEY"
)

// asked is a file with all conversations and their vectors, and the vectors of
// the questions.
type asked struct {
	db      *engine.DB
	model   string
	first   []engine.TurnID // of each conversation
	vectors map[*question][]float32
}

// measureHybrid measures the engine's own search by vectors alone, and by words
// and vectors, on a file in a temporary folder.
func measureHybrid(ctx context.Context, e engine.Embedder, conversations []conversation) (results []result, err error) {
	dir, err := os.MkdirTemp("", "recall")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := engine.Open(filepath.Join(dir, "a.ctxdb"), &engine.Options{Embedder: e})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	a := &asked{db: db, model: e.Model(), vectors: map[*question][]float32{}}
	if err := a.fill(ctx, e, conversations); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name  string
		words bool
	}{{"vectors alone", false}, {"words and vectors", true}} {
		r := result{name: s.name}
		for i := range conversations {
			c := &conversations[i]
			for j := range c.questions {
				q := &c.questions[j]
				ranked, err := a.order(ctx, i, c, q, s.words)
				if err != nil {
					return nil, err
				}
				r.add(c, q, ranked)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

func (a *asked) fill(ctx context.Context, e engine.Embedder, conversations []conversation) error {
	var questions []*question
	for i := range conversations {
		c := &conversations[i]
		var turns []engine.Turn
		for _, t := range c.turns {
			turns = append(turns, engine.Turn{Thread: c.id, Role: t.speaker, Time: t.time, Content: []byte(t.text)})
		}
		ids, err := a.db.Append(ctx, turns...)
		if err != nil {
			return err
		}
		a.first = append(a.first, ids[0])
		for j := range c.questions {
			questions = append(questions, &c.questions[j])
		}
	}
	r, err := a.db.Embed(ctx, engine.EmbedOptions{})
	if err != nil {
		return err
	}
	if len(r.Refused) > 0 {
		return fmt.Errorf("the model refuses %d turns", len(r.Refused))
	}
	for len(questions) > 0 {
		n := min(askedAtOnce, len(questions))
		texts := make([]string, n)
		for i, q := range questions[:n] {
			texts[i] = q.text
		}
		vectors, err := e.Embed(ctx, texts)
		if err != nil {
			return err
		}
		for i, q := range questions[:n] {
			a.vectors[q] = vectors[i]
		}
		questions = questions[n:]
	}
	return nil
}

// order lists all turns of a conversation: those that the search finds, then the
// others, newest first.
func (a *asked) order(ctx context.Context, i int, c *conversation, q *question, words bool) ([]int, error) {
	query := engine.Query{Thread: c.id, K: mostHits, Vector: a.vectors[q], VectorModel: a.model}
	if words {
		query.Text = q.text
	}
	found, err := a.db.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(found.Notes) > 0 || found.Compared == 0 {
		return nil, fmt.Errorf("%q: %d vectors compared; %q", q.text, found.Compared, found.Notes)
	}
	var ranked []int
	for _, h := range found.Hits {
		ranked = append(ranked, int(h.ID-a.first[i]))
	}
	return withRest(c, ranked), nil
}
