package lex

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Spoken is a term as it stands in a text.
type Spoken struct {
	Term  Term
	Text  string // as it stood first
	Count int
	Whole bool // an identifier, a path or the like, not a plain word
	Name  bool // a capital letter inside a sentence
}

// maxSpokenBytes is how long what is said may be: longer runs are data.
const maxSpokenBytes = 60

// Spoken lists what a content says, each term once, in the order in which it
// is said first. Function words are left out, and an identifier or a path is
// said as a whole. The content is read as Turn reads it.
func (a *Analyzer) Spoken(content []byte) []Spoken {
	var all []Spoken
	at := map[Term]int{}
	say := func(piece []byte) {
		if len(piece) == 0 || len(piece) > maxSpokenBytes {
			return
		}
		term, whole, ok := a.termSaid(piece)
		if !ok {
			return
		}
		if i, known := at[term]; known {
			all[i].Count++
			return
		}
		r, _ := utf8.DecodeRune(piece)
		at[term] = len(all)
		all = append(all, Spoken{Term: term, Text: string(piece), Count: 1, Whole: whole, Name: a.inside && unicode.IsUpper(r)})
	}
	a.reset()
	a.spoken = func(run []byte) {
		hook := a.spoken
		a.spoken = nil
		pieces(run, say)
		a.endRun(run)
		a.spoken = hook
	}
	forSamples(content, a.content)
	a.spoken, a.observe = nil, nil
	return all
}

// termSaid is the term of the whole of a piece: of several the last, which
// the analyzer gives behind those of its parts.
func (a *Analyzer) termSaid(piece []byte) (term Term, whole, ok bool) {
	inside := a.inside
	a.observe = func(k kind, t Term) {
		if k != kindStump && (k == kindCompound || !whole) {
			term, whole, ok = t, k == kindCompound, true
		}
	}
	for _, c := range piece {
		if c >= utf8.RuneSelf {
			a.unicodeRun(piece)
			a.observe, a.inside = nil, inside
			return term, whole, ok
		}
	}
	a.asciiRun(piece)
	a.observe, a.inside = nil, inside
	return term, whole, ok
}

// pieces cuts a run where the analyzer does: words, and what joiners join.
func pieces(run []byte, yield func([]byte)) {
	for _, c := range run {
		if c >= utf8.RuneSelf {
			yield(bytes.TrimFunc(run, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }))
			return
		}
	}
	for i := 0; i < len(run); {
		if !isWordByte(run[i]) {
			i++
			continue
		}
		start := i
		for i < len(run) && (isWordByte(run[i]) || isJoiner(run[i]) && i+1 < len(run) && isWordByte(run[i+1])) {
			i++
		}
		if start == 0 || run[start-1] != '\'' || i-start > 2 { // not the s of a possessive
			yield(run[start:i])
		}
	}
}
