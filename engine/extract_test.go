package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode"
)

// tellingPlainly counts different words of three letters and more.
func tellingPlainly(s []byte) float64 {
	seen := map[string]bool{}
	isEnd := func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '.' && r != '/' }
	for _, w := range bytes.FieldsFunc(s[:min(len(s), summaryBytes)], isEnd) {
		if k := string(bytes.ToLower(w)); len(k) >= 3 {
			seen[k] = true
		}
	}
	return float64(len(seen))
}

func TestTelling(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	pieces := []string{"a", "B", "aB_c", "Äpfel", "äpfel", "Ⱥ", "日本", " ", ", ", "\n", "./x", "42", "\xff", "…", "don't", "ABC", "abc"}
	for range 5000 {
		var s []byte
		for n := rng.IntN(60); n > 0; n-- {
			s = append(s, pieces[rng.IntN(len(pieces))]...)
		}
		if got, want := telling(s), tellingPlainly(s); got != want {
			t.Fatalf("%q: %g words, want %g (seed %d)", s, got, want, seed)
		}
		if most := float64(len(s)+1) / 3; telling(s) > most {
			t.Fatalf("%q: more than %g words", s, most)
		}
	}
}
