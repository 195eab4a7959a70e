package lex

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// fold makes letter case and the shapes of apostrophes one.
func fold(word string) string {
	return strings.ReplaceAll(strings.ToLower(word), "’", "'")
}

// stem is what the forms of a folded English word have in common.
func stem(word string) string {
	if base, ok := irregular[word]; ok {
		word = base
	}
	if len(word) < 3 {
		return word
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// known is what a lower-case word comes to. Text repeats its words, so it is
// worked out once.
type known struct {
	term, stump Term // stump is 0 for short words
	base        []byte
	cues        Cue
	function    bool
}

const (
	maxKnown = 1 << 15
	// stumpLetters is how many letters words of one family share: paint, painter, painting.
	stumpLetters = 5
)

// lookUp returns what is known of a lower-case word. The memory starts over when it
// is full.
func (a *Analyzer) lookUp(word []byte) known {
	if k, ok := a.known[string(word)]; ok {
		return k
	}
	if a.known == nil || len(a.known) >= maxKnown {
		a.known = make(map[string]known)
	}
	k := known{function: functionWords[string(word)], cues: cueOf(word)}
	if !k.function {
		k.base = []byte(stem(string(word)))
		k.term, a.scratch = termOf(kindWord, k.base, a.scratch)
		if len(k.base) >= stumpLetters && isLower(k.base[0]) && isASCII(k.base[:stumpLetters]) {
			k.stump, a.scratch = termOf(kindStump, k.base[:stumpLetters], a.scratch)
		}
	}
	a.known[string(word)] = k
	return k
}
