package bench

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

// wordsOf takes ten words from anywhere in a turn.
func wordsOf(rng *rand.Rand, content []byte) string {
	words := bytes.FieldsFunc(content, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	words = slices.DeleteFunc(words, func(w []byte) bool { return len(w) < 4 || len(w) > 20 })
	var q []string
	for range min(10, len(words)) {
		q = append(q, string(words[rng.IntN(len(words))]))
	}
	return strings.Join(q, " ")
}

// codingQuestions are those that recalltest asks of the coding sessions.
func codingQuestions(b testing.TB) (questions []string) {
	data, err := os.ReadFile(filepath.FromSlash("../cmd/ctxdb/internal/recalltest/testdata/questions.tsv"))
	must(b, err)
	for line := range strings.Lines(string(data)) {
		if q, _, ok := strings.Cut(line, "\t"); ok && q[0] != '#' {
			questions = append(questions, q)
		}
	}
	return questions
}

// chatQuestions are LoCoMo's; none where the folder of real data is absent.
func chatQuestions(b testing.TB) (questions []string) {
	dir, ok := trial.FindData()
	if !ok {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(dir, "locomo", "locomo5-dev.json"))
	must(b, err)
	var samples []struct {
		QA []struct{ Question string }
	}
	must(b, json.Unmarshal(data, &samples))
	for _, s := range samples {
		for _, qa := range s.QA {
			questions = append(questions, qa.Question)
		}
	}
	return questions
}

// commonQuestions are made of words that very many turns have.
func commonQuestions() []string {
	rng := rand.New(rand.NewPCG(workload.Seed, 5))
	words := strings.Fields(`file line test text code work branch error use command run need good see make thing
		time path go get read write session call output function change add check`)
	questions := make([]string, 100)
	for i := range questions {
		var q []string
		for range 10 {
			q = append(q, words[rng.IntN(len(words))])
		}
		questions[i] = strings.Join(q, " ")
	}
	return questions
}

// mixed appends n turns of coding sessions and of chats, both sets from end to
// end in turn until there are enough. A set that comes again has other threads,
// keys and times and the same contents, in other segments: they take as much
// index as the first time, and more turns have their words.
func mixed(b testing.TB, db *engine.DB, n int) (asked []string) {
	coding := turns(b)
	chat, err := workload.Chat()
	must(b, err)
	b.Logf("%v; %v", coding, chat)
	rng := rand.New(rand.NewPCG(workload.Seed, 4))
	cycle := coding.Len() + chat.Len()
	for from := 0; from < n; from += batch {
		var some []engine.Turn
		for i := from; i < min(from+batch, n); i++ {
			set, at := coding, i%cycle
			if at >= coding.Len() {
				set, at = chat, at-coding.Len()
			}
			t := set.At(i/cycle*set.Len() + at)
			t.Key = workload.Key(i)
			some = append(some, t)
		}
		asked = append(asked, wordsOf(rng, some[rng.IntN(len(some))].Content))
		_, err := db.Append(ctx, some...)
		must(b, err)
	}
	must(b, db.Checkpoint(ctx))
	return asked
}

// BenchmarkSearch asks questions over many turns, from the file's own index:
// those of coding sessions and chats, ten words of some turn, and ten words that
// very many turns have. first-us is the first search after Open. 100,000 turns
// take a while to make: they are left out with -short.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run("turns="+label(n), func(b *testing.B) {
			if testing.Short() && n > 10_000 {
				b.Skip("-short")
			}
			path := filepath.Join(b.TempDir(), "search.ctxdb")
			db, err := engine.Open(path, nil)
			must(b, err)
			words := mixed(b, db, n)
			must(b, db.Close())
			for _, kind := range []struct {
				name      string
				questions []string
			}{{"coding", codingQuestions(b)}, {"chat", chatQuestions(b)}, {"words", words}, {"common", commonQuestions()}} {
				b.Run("questions="+kind.name, func(b *testing.B) {
					if len(kind.questions) == 0 {
						b.Skip("the folder of real data is absent")
					}
					searches(b, path, kind.questions)
				})
			}
		})
	}
}

func searches(b *testing.B, path string, questions []string) {
	db := openAt(b, path, &engine.Options{ReadOnly: true})
	ask := func(i int) error {
		_, err := db.Search(ctx, engine.Query{Text: questions[i%len(questions)]})
		return err
	}
	var first, s measure.Samples
	must(b, first.Time(func() error { return ask(0) }))
	for i := range 20 {
		must(b, ask(i))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		must(b, s.Time(func() error { return ask(i) }))
		i++
	}
	report(b, "search", s)
	b.ReportMetric(first.Micros(.5), "first-us")
	index, err := db.IndexBytes()
	must(b, err)
	st := db.Stats()
	b.ReportMetric(float64(index)/float64(st.ContentBytes), "index/content")
	b.ReportMetric(float64(len(st.Segments)), "segments")
}
