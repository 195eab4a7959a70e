package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// meanings makes vectors by counting words, two of which mean the same.
type meanings struct {
	name string
	mu   sync.Mutex
	seen []string                                                       // texts, in order
	hook func(ctx context.Context, texts []string) ([][]float32, error) // nil: answers
}

func (m *meanings) Model() string { return m.name }

func (m *meanings) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	m.seen = append(m.seen, texts...)
	hook := m.hook
	m.mu.Unlock()
	if hook != nil {
		return hook(ctx, texts)
	}
	return m.answer(texts), nil
}

// behave changes what it does beside a question that nobody waits for any more.
func (m *meanings) behave(hook func(context.Context, []string) ([][]float32, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hook = hook
}

func (m *meanings) answer(texts []string) (all [][]float32) {
	for _, t := range texts {
		v := make([]float32, 64)
		for _, w := range strings.Fields(strings.ToLower(t)) {
			if w == "automobile" {
				w = "car"
			}
			h := fnv.New32a()
			h.Write([]byte(w))
			v[h.Sum32()%64]++
		}
		all = append(all, v)
	}
	return all
}

func itemText(i int) string { return fmt.Sprintf("turn %d speaks of item%d and item%d", i, i, i*i) }

// carFile has some hundred turns, of which one is about a car.
func carFile(t *testing.T, e Embedder, n int) (db *DB, car TurnID) {
	t.Helper()
	db = open(t, filepath.Join(t.TempDir(), "a.ctxdb"), &Options{Embedder: e})
	var turns []Turn
	for i := range n {
		turns = append(turns, Turn{Thread: "t", Role: "user", Content: []byte(itemText(i))})
	}
	turns[n/2].Content = []byte("the red car stands outside")
	ids := appendTurns(t, db, turns...)
	return db, ids[n/2]
}

func mustEmbed(t *testing.T, db *DB) EmbedReport {
	t.Helper()
	r, err := db.Embed(ctx, EmbedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func found(t *testing.T, db *DB, q Query) Found {
	t.Helper()
	f, err := db.Find(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestEmbed: turns that came without vectors get them, once; what means the same
// is found by another word, after a reopen and by a reader too.
func TestEmbed(t *testing.T) {
	e := &meanings{name: "m"}
	db, car := carFile(t, e, 150)
	appendTurns(t, db,
		Turn{Role: RoleMeta, Content: []byte("meta")}, Turn{Role: "user"},
		Turn{Role: "user", Content: []byte("mine"), Embedding: e.answer([]string{"mine"})[0], EmbeddingModel: "m"},
		Turn{Role: "user", Content: []byte("unnamed"), Embedding: e.answer([]string{"unnamed"})[0]},
		Turn{Role: "user", Content: []byte(strings.Repeat("é", embedText))},
		Turn{Role: "user", Content: []byte("a\xff" + strings.Repeat("b", 10)), Summary: "short"})
	q := Query{Text: "automobile", K: 3}
	if f := found(t, db, q); len(f.Hits) != 0 || f.Compared != 0 || len(f.Notes) != 1 {
		t.Errorf("before: %+v", f)
	}
	r := mustEmbed(t, db)
	if r.Made != 153 || r.Empty != 2 || r.Had != 1 || r.Model != "m" || r.Dims != 64 || r.Committed != 157 || len(r.Refused) != 0 {
		t.Errorf("%+v", r)
	}
	for _, s := range e.seen {
		if len(s) > embedText || !utf8.ValidString(s) || s == "" {
			t.Errorf("a text of %d bytes", len(s))
		}
	}
	seen := len(e.seen)
	if r := mustEmbed(t, db); r.Made != 0 || len(e.seen) != seen {
		t.Errorf("a second pass: %+v", r)
	}
	check := func(db *DB) {
		t.Helper()
		f := found(t, db, q)
		if len(f.Hits) == 0 || f.Hits[0].ID != car || f.Compared != 154 || len(f.Notes) != 0 {
			t.Errorf("%+v", f)
		}
		if f := found(t, db, Query{Text: "automobile", WordsOnly: true}); len(f.Hits) != 0 || f.Compared != 0 {
			t.Errorf("words only: %+v", f)
		}
	}
	check(db)
	reader := open(t, db.Path(), &Options{ReadOnly: true, Embedder: e})
	check(reader)
	if _, err := reader.Embed(ctx, EmbedOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a reader embeds: %v", err)
	}
	wellFormed(t, db)
	check(reader)
	wellFormed(t, reader)
	db = open(t, db.Path(), &Options{Embedder: e})
	check(db)
	more := appendTurns(t, db, Turn{Role: "user", Content: []byte("an automobile again")})
	if r := mustEmbed(t, db); r.Made != 1 || r.Committed != more[0]+1 {
		t.Errorf("one more: %+v", r)
	}
	if f := found(t, db, q); len(f.Hits) < 2 || f.Hits[0].ID != more[0] {
		t.Errorf("%+v", f)
	}
	wellFormed(t, db)
}

// TestEmbedModels: vectors of two models are never compared, be they of one
// dimension.
func TestEmbedModels(t *testing.T) {
	a := &meanings{name: "a"}
	db, car := carFile(t, a, 40)
	path := db.Path()
	mustEmbed(t, db)
	wellFormed(t, db)
	b := &meanings{name: "b"}
	b.hook = func(_ context.Context, texts []string) ([][]float32, error) {
		all := b.answer(texts)
		for _, v := range all {
			slices.Reverse(v)
		}
		return all, nil
	}
	db = open(t, path, &Options{Embedder: b})
	if f := found(t, db, Query{Text: "automobile"}); f.Compared != 0 || len(f.Hits) != 0 || len(f.Notes) != 1 {
		t.Errorf("without vectors of b: %+v", f)
	}
	mustEmbed(t, db)
	for _, m := range []*meanings{a, b} {
		v, _ := m.Embed(ctx, []string{"automobile"})
		hits, err := db.Search(ctx, Query{Vector: v[0], VectorModel: m.name})
		if err != nil || len(hits) == 0 || hits[0].ID != car || found(t, db, Query{Vector: v[0], VectorModel: m.name}).Compared != 40 {
			t.Errorf("model %s: %+v, %v", m.name, hits, err)
		}
		if f := found(t, db, Query{Vector: v[0]}); f.Compared != 0 {
			t.Errorf("without a name: %+v", f)
		}
	}
	all, err := db.VectorRuns()
	if err != nil || len(all) != 2 || all[0].Vectors != 40 || all[1].Turns != 40 || all[0].Dims != 64 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := db.DropVectors(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := db.DropVectors(ctx, "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	if all, err := db.VectorRuns(); err != nil || len(all) != 1 || all[0].Model != "b" {
		t.Errorf("%+v, %v", all, err)
	}
	b.hook = func(_ context.Context, texts []string) ([][]float32, error) {
		all := b.answer(texts)
		for i := range all {
			all[i] = all[i][:32]
			all[i][0]++
		}
		return all, nil
	}
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one more")})
	if r, err := db.Embed(ctx, EmbedOptions{}); err == nil || !strings.Contains(err.Error(), "32 dimensions") || r.Made != 0 {
		t.Errorf("another dimension: %+v, %v", r, err)
	}
	wellFormed(t, db)
}

// TestEmbedResumes: a pass that fails keeps what it has, and none of it is asked
// for again.
func TestEmbedResumes(t *testing.T) {
	e := &meanings{name: "m"}
	calls := 0
	gone := errors.New("gone")
	e.hook = func(_ context.Context, texts []string) ([][]float32, error) {
		if calls++; calls%3 == 0 {
			e.seen = e.seen[:len(e.seen)-len(texts)]
			return nil, gone
		}
		return e.answer(texts), nil
	}
	db, car := carFile(t, e, 500)
	path := db.Path()
	passes, made := 0, uint64(0)
	for {
		r, err := db.Embed(ctx, EmbedOptions{})
		if passes++; passes > 10 {
			t.Fatal("it does not end")
		}
		made += r.Made
		if err == nil {
			break
		}
		if !errors.Is(err, gone) || uint64(r.Committed) != made+1 {
			t.Fatalf("%+v, %v", r, err)
		}
		wellFormed(t, db)
		db = open(t, path, &Options{Embedder: e})
	}
	if made != 500 || len(e.seen) != 500 || passes != 4 {
		t.Errorf("%d vectors of %d texts in %d passes", made, len(e.seen), passes)
	}
	e.hook = nil
	if f := found(t, db, Query{Text: "automobile", K: 1}); f.Compared != 500 || f.Hits[0].ID != car {
		t.Errorf("%+v", f)
	}
	wellFormed(t, db)
}

// TestEmbedProgress: vectors are committed as the pass goes on, and small runs
// grow together.
func TestEmbedProgress(t *testing.T) {
	e := &meanings{name: "m"}
	db, _ := carFile(t, e, 3000)
	var done []uint64
	if _, err := db.Embed(ctx, EmbedOptions{Progress: func(d, of uint64) {
		done = append(done, d)
		if of != 3000 {
			t.Errorf("of %d", of)
		}
		if n := len(db.view.Load().vectors); d > commitTurns+embedTexts && n == 0 {
			t.Errorf("nothing is committed after %d turns", d)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(done) || done[len(done)-1] != 3000 {
		t.Errorf("progress %v", done)
	}
	for range 16 {
		appendTurns(t, db, Turn{Role: "user", Content: []byte("one more")})
		mustEmbed(t, db)
	}
	if n := len(db.view.Load().vectors); n > 6 {
		t.Errorf("%d runs", n)
	}
	if f := found(t, db, Query{Text: "item7"}); f.Compared != 3016 {
		t.Errorf("%d compared", f.Compared)
	}
	wellFormed(t, db)
}

// TestEmbedRefused: a text that the model refuses is shortened, then left out,
// and the others get their vectors. Where all are refused, nothing is marked.
func TestEmbedRefused(t *testing.T) {
	e := &meanings{name: "m"}
	e.hook = func(_ context.Context, texts []string) ([][]float32, error) {
		for _, s := range texts {
			if len(s) > 2500 || strings.Contains(s, "poison") {
				return nil, fmt.Errorf("no: %w", ErrRefused)
			}
		}
		return e.answer(texts), nil
	}
	db, _ := carFile(t, e, 100)
	bad := appendTurns(t, db, Turn{Role: "user", Content: []byte("poison")})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("automobile " + strings.Repeat("long ", 2000))}, Turn{Role: "user", Content: []byte("end")})
	r := mustEmbed(t, db)
	if r.Made != 102 || !slices.Equal(r.Refused, bad) {
		t.Errorf("%+v", r)
	}
	wellFormed(t, db)
	e.hook = func(context.Context, []string) ([][]float32, error) { return nil, ErrRefused }
	db, _ = carFile(t, e, 100)
	if r, err := db.Embed(ctx, EmbedOptions{}); !errors.Is(err, ErrRefused) || r.Committed != 1 || len(db.view.Load().vectors) != 0 {
		t.Errorf("all refused: %+v, %v", r, err)
	}
	if len(e.seen) > 400 {
		t.Errorf("%d texts were sent to a model that refuses all", len(e.seen))
	}
	wellFormed(t, db)
}

// TestEmbedRefusedNeighbours: texts that are refused one after the other are the
// texts' fault where another is taken, and no later turn waits for them.
func TestEmbedRefusedNeighbours(t *testing.T) {
	e := &meanings{name: "m"}
	asked := 0
	e.behave(func(_ context.Context, texts []string) ([][]float32, error) {
		asked += len(texts)
		for _, s := range texts {
			var n int
			if _, err := fmt.Sscanf(s, "turn %d ", &n); err == nil && n >= 90 && n < 120 {
				return nil, ErrRefused
			}
		}
		return e.answer(texts), nil
	})
	db, _ := carFile(t, e, 400)
	r := mustEmbed(t, db)
	if len(r.Refused) != 30 || r.Committed != TurnID(db.Stats().NextID) {
		t.Errorf("%d refused, committed up to %d of %d", len(r.Refused), r.Committed, db.Stats().NextID)
	}
	asked = 0
	if r := mustEmbed(t, db); asked > 0 || r.Made > 0 {
		t.Errorf("asked again for %d texts, %+v", asked, r)
	}
	wellFormed(t, db)
}

// TestEmbedFailsWithinABatch: a pass that ends while the halves of a batch are
// tried commits what was answered, no more, and the file opens.
func TestEmbedFailsWithinABatch(t *testing.T) {
	for fails := 2; fails < 16; fails++ {
		e := &meanings{name: "m"}
		calls := 0
		broken := errors.New("the line is cut")
		e.behave(func(_ context.Context, texts []string) ([][]float32, error) {
			if calls++; calls == fails {
				return nil, broken
			}
			if len(texts) > 16 {
				return nil, ErrRefused
			}
			return e.answer(texts), nil
		})
		db, _ := carFile(t, e, 300)
		r, err := db.Embed(ctx, EmbedOptions{})
		if !errors.Is(err, broken) {
			t.Fatalf("call %d fails: %+v, %v", fails, r, err)
		}
		if uint64(r.Committed) != r.Made+1 {
			t.Errorf("call %d fails: %d vectors, committed up to turn %d: %v", fails, r.Made, r.Committed, err)
		}
		for _, id := range r.Refused {
			if id >= r.Committed {
				t.Errorf("call %d fails: turn %d is reported as refused and is tried again", fails, id)
			}
		}
		path := db.Path()
		wellFormed(t, db) // and closes it
		e.behave(nil)
		db = open(t, path, &Options{Embedder: e})
		if again := mustEmbed(t, db); again.Made+r.Made != 300 {
			t.Errorf("call %d fails: %d vectors, then %d", fails, r.Made, again.Made)
		}
		wellFormed(t, db)
	}
}

// TestEmbedderFails: whatever goes wrong with the model, words decide, and the
// result says so; nothing wrong gets into the file.
func TestEmbedderFails(t *testing.T) {
	e := &meanings{name: "m"}
	db, _ := carFile(t, e, 60)
	mustEmbed(t, db)
	release := make(chan struct{})
	defer close(release)
	plain := found(t, db, Query{Text: "the red car", WordsOnly: true})
	nan := float32(0)
	nan /= nan
	for name, hook := range map[string]func(context.Context, []string) ([][]float32, error){
		"error": func(context.Context, []string) ([][]float32, error) { return nil, errors.New("quota") },
		"count": func(_ context.Context, s []string) ([][]float32, error) { return e.answer(append(s, "x")), nil },
		"none":  func(context.Context, []string) ([][]float32, error) { return nil, nil },
		"empty": func(_ context.Context, s []string) ([][]float32, error) { return make([][]float32, len(s)), nil },
		"zero":  func(context.Context, []string) ([][]float32, error) { return [][]float32{make([]float32, 64)}, nil },
		"nan":   func(context.Context, []string) ([][]float32, error) { return [][]float32{{nan, 1}}, nil },
		"large": func(context.Context, []string) ([][]float32, error) {
			return [][]float32{slices.Repeat([]float32{1}, 8193)}, nil
		},
		"panic":     func(context.Context, []string) ([][]float32, error) { panic("oh") },
		"dimension": func(context.Context, []string) ([][]float32, error) { return [][]float32{{1, 2}}, nil },
		"hangs": func(context.Context, []string) ([][]float32, error) {
			<-release
			return nil, nil
		},
	} {
		e.behave(hook)
		db.opts.EmbedWait = time.Second
		if name == "hangs" {
			db.opts.EmbedWait = time.Millisecond
		}
		f := found(t, db, Query{Text: "the red car"})
		if len(f.Notes) != 1 || f.Compared != 0 || fmt.Sprint(f.Hits) != fmt.Sprint(plain.Hits) {
			t.Errorf("%s: %q, %d compared, %d hits of %d", name, f.Notes, f.Compared, len(f.Hits), len(plain.Hits))
		}
		w := window(t, db, WindowOptions{BudgetTokens: 300, ShortTurns: 1, ShortTokens: 1})
		p := assemble(t, w, Query{Text: "the red car"})
		if len(p.Notes) == 0 || !strings.Contains(strings.Join(p.Notes, " "), "words alone") || len(p.Fetched) == 0 {
			t.Errorf("%s: assembled with notes %q", name, p.Notes)
		}
	}
	e.behave(nil)
	w := window(t, db, WindowOptions{BudgetTokens: 300, ShortTurns: 1, ShortTokens: 1})
	if p := assemble(t, w, Query{Text: "automobile"}); len(p.Fetched) == 0 || len(p.Notes) != 0 {
		t.Errorf("hybrid: %v, notes %q", p.Fetched, p.Notes)
	}
	e.name = ""
	if f := found(t, db, Query{Text: "the red car"}); len(f.Notes) != 1 {
		t.Errorf("no name: %q", f.Notes)
	}
	if _, err := db.Embed(ctx, EmbedOptions{}); err == nil {
		t.Error("a model without a name makes vectors")
	}
	wellFormed(t, db)
}
