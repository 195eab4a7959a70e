package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ctxdb/engine"
)

// question takes ten words from anywhere in a turn.
func question(rng *rand.Rand, content []byte) string {
	words := bytes.FieldsFunc(content, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	words = slices.DeleteFunc(words, func(w []byte) bool { return len(w) < 4 || len(w) > 20 })
	var q []string
	for range min(10, len(words)) {
		q = append(q, string(words[rng.IntN(len(words))]))
	}
	return strings.Join(q, " ")
}

// BenchmarkSearch asks questions of ten words over many turns, from the file's
// own index.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("turns=%d", n), func(b *testing.B) {
			work := turns(b, n)
			db := openNew(b, nil)
			for i := 0; i < n; i += 2000 {
				_, err := db.Append(ctx, work[i:min(i+2000, n)]...)
				must(b, err)
			}
			must(b, db.Checkpoint(ctx))
			rng := rand.New(rand.NewPCG(seed, seed))
			questions := make([]string, 200)
			for i := range questions {
				questions[i] = question(rng, work[rng.IntN(n)].Content)
			}
			for _, q := range questions[:20] { // opens the indexes
				_, err := db.Search(ctx, engine.Query{Text: q})
				must(b, err)
			}
			var s samples
			i := 0
			for b.Loop() {
				s = append(s, timed(func() {
					_, err := db.Search(ctx, engine.Query{Text: questions[i%len(questions)]})
					must(b, err)
				}))
				i++
			}
			s.report(b, "search")
			st := db.Stats()
			b.ReportMetric(float64(st.FileBytes-st.FreeBytes)/float64(st.ContentBytes), "file/content")
		})
	}
}
