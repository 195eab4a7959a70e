package lex

import (
	"github.com/cespare/xxhash/v2"
)

// Term is the low 32 bits of the xxhash64 of a normalised string and its kind.
// A part of forty thousand terms answers one absent term in a hundred thousand with
// another's postings, which a ranking survives.
type Term uint64

// TermBits is the width of a Term.
const TermBits = 32

// kind keeps strings apart that are the same but mean something else.
type kind byte

const (
	kindWord     kind = 'w' // a stem, a number, a pair of characters
	kindCompound kind = 'c' // an identifier, a path, a version, whole
	kindStump    kind = 's' // the first letters of a longer word
	kindTag      kind = 't' // a tag, as it was given
)

// termOf hashes a normalised string. scratch is overwritten.
func termOf(k kind, s []byte, scratch []byte) (Term, []byte) {
	scratch = append(append(scratch[:0], byte(k)), s...)
	return Term(xxhash.Sum64(scratch) & (1<<TermBits - 1)), scratch
}

// WordTerm is the term of a word as it stands in text.
func WordTerm(word string) Term {
	t, _ := termOf(kindWord, []byte(stem(fold(word))), nil)
	return t
}

// TagTerm is the term of a whole tag, to filter by.
func TagTerm(tag string) Term {
	t, _ := termOf(kindTag, []byte(tag), nil)
	return t
}
