package lex

import (
	"math/rand/v2"
	"testing"
)

// What two integers remember of a word is what the memory of any word says.
func TestPackedWords(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, seed))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var a, b Analyzer
	for range 3 * maxKnown { // more than it holds
		word := make([]byte, 1+rng.IntN(maxPacked))
		for i := range word {
			word[i] = letters[rng.IntN(min(len(letters), 4+rng.IntN(len(letters))))]
		}
		a.reset()
		a.packed(word)
		b.reset()
		b.plain(appendLower(nil, word))
		got, want := a.counts.appendTo(nil), b.counts.appendTo(nil)
		if len(got) != len(want) || a.cues != b.cues {
			t.Fatalf("%q: %d terms and cues %b, not %d and %b (seed %d)", word, len(got), a.cues, len(want), b.cues, seed)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%q: term %d is %v, not %v (seed %d)", word, i, got[i], want[i], seed)
			}
		}
	}
	if a.short.used > maxKnown || len(a.short.slots) > 4*maxKnown {
		t.Errorf("%d words in %d slots", a.short.used, len(a.short.slots))
	}
}

func TestPackIsOneToOne(t *testing.T) {
	seen := map[[2]uint64]string{}
	for n := 1; n <= maxPacked; n++ {
		for i := range n {
			for _, c := range "z9" {
				word := []byte("aaaaaaaaaaaaaaaaaaa")[:n]
				word[i] = byte(c)
				lo, hi := pack(word)
				if before, ok := seen[[2]uint64{lo, hi}]; ok {
					t.Errorf("%q packs as %q does", word, before)
				}
				seen[[2]uint64{lo, hi}] = string(word)
			}
		}
	}
}
