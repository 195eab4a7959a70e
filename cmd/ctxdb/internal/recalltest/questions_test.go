package recalltest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ctxdb/engine/lex"
	"ctxdb/engine/rank"

	"github.com/cespare/xxhash/v2"
)

// question names the turns that answer it by the hashes of their keys.
type question struct {
	text    string
	answers []string
}

func readQuestions(t *testing.T) (qs []question) {
	t.Helper()
	data, err := os.ReadFile("testdata/questions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		text, answers, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			t.Fatalf("no answers in %q", line)
		}
		qs = append(qs, question{text, strings.Fields(answers)})
	}
	return qs
}

// TestQuestions asks fifty questions about ten sessions in one index, without
// saying which session: what a user wanted, an error, a path, a symbol, a
// command, a change. One of the answering turns must be among the first five
// for nine of ten.
func TestQuestions(t *testing.T) {
	m, a := rank.NewMemory(), new(lex.Analyzer)
	var keys []string
	for _, name := range sessions {
		for _, turn := range session(t, name) {
			m.Add(indexed(a, nil, &turn))
			keys = append(keys, fmt.Sprintf("%016x", xxhash.Sum64String(turn.Key)))
		}
	}
	parts := []rank.Part{m.View()}
	qs := readQuestions(t)
	hit1, hit5 := 0, 0
	for _, q := range qs {
		place := placeOf(t, parts, keys, q, a)
		if place == 1 {
			hit1++
		}
		if place <= 5 {
			hit5++
		} else {
			t.Logf("place %d: %s", place, q.text)
		}
	}
	t.Logf("%d turns, %d questions: hit@1 %d, hit@5 %d", len(keys), len(qs), hit1, hit5)
	if len(qs) < 50 || 10*hit5 < 9*len(qs) {
		t.Errorf("hit@5 is %d of %d questions", hit5, len(qs))
	}
}

const depth = 200

// placeOf is the place of the first turn that answers, from 1; depth+1 if none does.
func placeOf(t *testing.T, parts []rank.Part, keys []string, q question, a *lex.Analyzer) int {
	t.Helper()
	hits, err := rank.Default.Search(parts, lex.Parse(q.text, a), rank.Filter{}, depth)
	if err != nil {
		t.Fatal(err)
	}
	known := false
	for _, answer := range q.answers {
		for _, key := range keys {
			known = known || key == answer
		}
	}
	if !known {
		t.Fatalf("no turn has the keys that answer %q", q.text)
	}
	for i, h := range hits {
		for _, answer := range q.answers {
			if keys[h.Ordinal] == answer {
				return i + 1
			}
		}
	}
	return depth + 1
}
