package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

// codingQuestions are those of our own over the coding sessions; see recalltest.
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

// chatQuestions are LoCoMo's; none where the shared data is absent.
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
func commonQuestions(b testing.TB) []string {
	rng := rand.New(rand.NewPCG(seed, seed))
	words := strings.Fields(`file line test text code work branch error use command run need good see make thing time
		path go get read write session call output function change add check`)
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

// mixedTurns appends n turns of coding sessions and chats, both sets from end to
// end in turn, until there are enough. A set that comes again has other threads,
// keys and times, and the same contents: in other segments, so that they take
// as much index as the first time, and twice as many turns have their words.
func mixedTurns(b testing.TB, db *engine.DB, n int) {
	coding, err := workload.Coding()
	must(b, err)
	chat, err := workload.Chat()
	must(b, err)
	b.Logf("%v; %v", coding, chat)
	cycle := coding.Len() + chat.Len()
	batch := make([]engine.Turn, 0, 1000)
	for i := range n {
		set, at := coding, i%cycle
		if at >= coding.Len() {
			set, at = chat, at-coding.Len()
		}
		t := set.At(i/cycle*set.Len() + at)
		t.Key = workload.Key(i)
		if batch = append(batch, t); len(batch) == cap(batch) || i == n-1 {
			_, err := db.Append(ctx, batch...)
			must(b, err)
			batch = batch[:0]
		}
	}
	must(b, db.Checkpoint(ctx))
}

// BenchmarkSearch asks questions over many turns, from the index in the file.
// The time is of questions not asked before, all once or more.
func BenchmarkSearch(b *testing.B) {
	kinds := []struct {
		name string
		of   func(testing.TB) []string
	}{{"coding", codingQuestions}, {"chat", chatQuestions}, {"common", commonQuestions}}
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			db := openNew(b, nil)
			mixedTurns(b, db, n)
			st := db.Stats()
			index, err := db.IndexBytes()
			must(b, err)
			for _, kind := range kinds {
				b.Run("questions="+kind.name, func(b *testing.B) {
					questions := kind.of(b)
					if len(questions) == 0 {
						b.Skip("no shared data")
					}
					first := timed(func() { // opens the indexes
						_, err := db.Search(ctx, engine.Query{Text: questions[0]})
						must(b, err)
					})
					var s samples
					i := 0
					for b.Loop() {
						q := engine.Query{Text: questions[i%len(questions)]}
						s = append(s, timed(func() {
							_, err := db.Search(ctx, q)
							must(b, err)
						}))
						i++
					}
					s.report(b, "search")
					b.ReportMetric(float64(first.Microseconds()), "first-us")
					b.ReportMetric(float64(index)/float64(st.ContentBytes), "index/content")
					b.ReportMetric(float64(len(st.Segments)), "segments")
				})
			}
		})
	}
}
