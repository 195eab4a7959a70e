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

// stumpLetters is how many letters words of one family share: paint, painter, painting.
const stumpLetters = 5
