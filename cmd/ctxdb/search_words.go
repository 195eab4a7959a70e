package main

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookout finds the words of a query in a text, to show where they stand. What is found
// at all is the index's business; this only points at it.
type lookout struct {
	words []string // lower case, without an ending; each once
}

// plain words say nothing about where in a turn the answer stands.
var plainWords = strings.Fields("a an and are as at be by did do does for from had has have how i in is it me my of on or that the this to was we were what when where which who why with you your")

func newLookout(query string) *lookout {
	l := &lookout{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(query), isNoWord) {
		if slices.Contains(plainWords, word) {
			continue
		}
		if word = withoutEnding(word); !slices.Contains(l.words, word) {
			l.words = append(l.words, word)
		}
	}
	return l
}

func isNoWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// withoutEnding lets failed, fails and failing find each other.
func withoutEnding(word string) string {
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && len(stem) >= 4 {
			return stem
		}
	}
	return word
}

// find returns which word of the query stands at the beginning of text, and its bytes
// there; 0: none does.
func (l *lookout) find(text string) (which, bytes int) {
	for i, word := range l.words {
		if n := prefixFold(text, word); n > bytes {
			which, bytes = i, n
		}
	}
	return which, bytes
}

// prefixFold is how many bytes of text are a word in lower case; 0: it begins otherwise.
func prefixFold(text, lower string) (bytes int) {
	for _, want := range lower {
		got, n := utf8.DecodeRuneInString(text[bytes:])
		if n == 0 || unicode.ToLower(got) != want {
			return 0
		}
		bytes += n
	}
	return bytes
}

// each calls f for every word of text that is one of the query's, with its place.
func (l *lookout) each(text string, f func(from, to, which int) bool) {
	inside := false
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if isNoWord(r) {
			inside, i = false, i+n
			continue
		}
		// A part of an identifier begins with a capital, or behind what is no letter.
		which, length := 0, 0
		if !inside || unicode.IsUpper(r) {
			which, length = l.find(text[i:])
		}
		inside = true
		if length == 0 {
			i += n
			continue
		}
		to := partEnd(text, i+length)
		if !f(i, to, which) {
			return
		}
		i = to
	}
}

// partEnd is where a word, or its part, ends that goes on at an offset.
func partEnd(text string, at int) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if isNoWord(r) || unicode.IsUpper(r) {
			break
		}
		at += n
	}
	return at
}

// line is the line of a content that has most of the query's words, long ones counting
// more; of several the first. "" if there is none.
func (l *lookout) line(content []byte, columns int) string {
	best, bestWeight := "", 0
	for raw := range bytes.Lines(content) {
		text, weight := string(raw), 0
		seen := make([]bool, len(l.words))
		l.each(text, func(_, _, which int) bool {
			if !seen[which] {
				seen[which] = true
				weight += 2 + len(l.words[which])
			}
			return true
		})
		if weight > bestWeight {
			best, bestWeight = text, weight
		}
	}
	return firstWords(l.from(strings.Join(strings.Fields(best), " "), columns), columns)
}

// from is a text whose beginning is left out where the first word of the query would
// otherwise stand beyond that many columns.
func (l *lookout) from(text string, columns int) string {
	first := -1
	l.each(text, func(from, _, _ int) bool {
		first = from
		return false
	})
	if first < 2*columns/3 {
		return text
	}
	// A quarter of the columns stands before it, or more where little comes behind it.
	start := max(min(first-columns/4, len(text)-columns+1), 0)
	if start == 0 {
		return text
	}
	if space := strings.IndexByte(text[start:first], ' '); space >= 0 && space < columns/4 {
		return "\u2026" + text[start+space+1:]
	}
	for !utf8.RuneStart(text[start]) {
		start++
	}
	return "\u2026" + text[start:]
}

// mark puts marks around the query's words.
func (l *lookout) mark(text, begin, end string) string {
	var b strings.Builder
	done := 0
	l.each(text, func(from, to, _ int) bool {
		b.WriteString(text[done:from] + begin + text[from:to] + end)
		done = to
		return true
	})
	return b.String() + text[done:]
}
