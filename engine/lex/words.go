package lex

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

const (
	maxWordBytes     = 64  // a longer run of letters and digits is encoded data
	maxCompoundBytes = 160 // a longer path is known by its words and last element
)

// text feeds the words of plain text to the sink, a run between white space at
// a time.
func (a *Analyzer) text(s []byte) {
	a.inside = false
	lineStart := true
	for i := 0; i < len(s); {
		from, ascii := i, true
		size := 0 // of the break
		for i < len(s) && size == 0 {
			switch c := classes[s[i]]; {
			case c&(classSpace|classHigh) == 0:
				i++
			case c == classSpace:
				size = 1
			default:
				r, n := utf8.DecodeRune(s[i:])
				if r == '→' || r == 0x85 || r >= 0xA0 && unicode.IsSpace(r) {
					size = n
				} else {
					ascii = false
					i += n
				}
			}
		}
		if run := s[from:i]; len(run) > 0 {
			if !lineStart || !isLineNumber(run, s[i:]) {
				a.run(run, ascii)
			}
			lineStart = false
		}
		if size == 1 && s[i] == '\n' {
			lineStart, a.inside = true, false
		}
		i += size
	}
}

// isLineNumber knows the numbers that tools put before each line they show.
func isLineNumber(run, rest []byte) bool {
	if len(run) > 7 || !(bytes.HasPrefix(rest, []byte("→")) || bytes.HasPrefix(rest, []byte("\t"))) {
		return false
	}
	for _, c := range run {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// run takes what stands between white space apart.
func (a *Analyzer) run(s []byte, ascii bool) {
	switch {
	case a.spoken != nil:
		a.spoken(s)
		return
	case ascii:
		a.asciiRun(s)
	default:
		a.unicodeRun(s)
	}
	a.endRun(s)
}

// endRun notes where a sentence may begin.
func (a *Analyzer) endRun(s []byte) {
	last := s[len(s)-1]
	if last == '"' || last == ')' || last == '\'' || last == '*' {
		last = s[max(0, len(s)-2)]
	}
	a.inside = last != '.' && last != '!' && last != '?' && last != ':'
}

// asciiRun cuts words, and the compounds that single . / - : @ join.
func (a *Analyzer) asciiRun(s []byte) {
	for i := 0; i < len(s); {
		if !isWordByte(s[i]) {
			i++
			continue
		}
		start, parts := i, 0
		for {
			from := i
			first, rest := classes[s[i]], byte(0)
			for i++; i < len(s); i++ {
				c := classes[s[i]]
				if c&classWord == 0 {
					break
				}
				rest |= c
			}
			if w := trimPossessive(s, from, i); rest&(classUpper|classUnder) == 0 && first != classUnder {
				a.simple(w)
			} else {
				a.word(w)
			}
			parts++
			if i+1 < len(s) && isJoiner(s[i]) && isWordByte(s[i+1]) {
				i++
				continue
			}
			break
		}
		if parts > 1 {
			a.compound(s[start:i])
		}
	}
}

// trimPossessive returns the word s[from:to]; the s and t behind an
// apostrophe come as words of their own, which are function words.
func trimPossessive(s []byte, from, to int) []byte {
	if to-from == 1 && from > 0 && s[from-1] == '\'' {
		return nil
	}
	return s[from:to]
}

// compound gives a path or dotted name whole, and its last element of several.
func (a *Analyzer) compound(s []byte) {
	if len(s) <= maxCompoundBytes {
		a.emitFolded(kindCompound, s)
	}
	if i := bytes.LastIndexAny(s, "/\\"); i > 0 && bytes.IndexByte(s[i:], '.') > 0 {
		a.emitFolded(kindCompound, s[i+1:])
	}
}

// unicodeRun cuts by Unicode's word boundaries.
func (a *Analyzer) unicodeRun(s []byte) {
	it := words.FromBytes(s)
	var before rune // of the pair that is open
	for it.Next() {
		w := it.Value()
		r, size := utf8.DecodeRune(w)
		switch {
		case joinsInPairs(r):
			before = a.pairs(w, before)
			continue
		case r < utf8.RuneSelf && isASCII(w):
			a.asciiRun(w)
		case size == len(w) && !unicode.IsLetter(r) && !unicode.IsNumber(r):
		case len(w) <= 4*maxWordBytes:
			a.length++
			if unicode.IsUpper(r) {
				a.mentions()
			}
			a.lower = append(a.lower[:0], fold(string(w))...)
			a.lower = bytes.TrimSuffix(a.lower, []byte("'s"))
			a.plain(a.lower)
		}
		before = 0
	}
}

// joinsInPairs is true of scripts that are written without spaces.
func joinsInPairs(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pairs gives each character with the one before it, and a lone one as it is.
func (a *Analyzer) pairs(w []byte, before rune) rune {
	for _, r := range string(w) {
		a.length++
		if before != 0 {
			a.lower = utf8.AppendRune(utf8.AppendRune(a.lower[:0], before), r)
			a.emit(kindWord, a.lower)
		}
		a.lower = utf8.AppendRune(a.lower[:0], r)
		a.emit(kindWord, a.lower)
		before = r
	}
	return before
}
