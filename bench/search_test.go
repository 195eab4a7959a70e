package bench

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
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
// own index. 100,000 turns take a while to make: they are left out with -short.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run("turns="+label(n), func(b *testing.B) {
			if testing.Short() && n > 10_000 {
				b.Skip("-short")
			}
			set := turns(b)
			db := openAt(b, sealed(b, set, n), &engine.Options{ReadOnly: true})
			rng := rand.New(rand.NewPCG(workload.Seed, 4))
			questions := make([]string, 200)
			for i := range questions {
				questions[i] = question(rng, set.At(rng.IntN(n)).Content)
			}
			ask := func(i int) error {
				_, err := db.Search(ctx, engine.Query{Text: questions[i%len(questions)]})
				return err
			}
			for i := range 20 { // opens the indexes
				must(b, ask(i))
			}
			var s measure.Samples
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				must(b, s.Time(func() error { return ask(i) }))
				i++
			}
			report(b, "search", s)
		})
	}
}
