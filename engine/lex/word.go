package lex

// simple gives an ASCII word of small letters and digits, the first of which may
// be a capital: most are.
func (a *Analyzer) simple(s []byte) {
	if len(s) == 0 || len(s) > maxWordBytes {
		return
	}
	a.length++
	a.part(s, false)
}

// word gives an ASCII word: as it is, or whole and in parts where it is an identifier.
func (a *Analyzer) word(s []byte) {
	if len(s) == 0 || len(s) > maxWordBytes {
		return
	}
	a.length++
	cut := false
	for from := 0; from < len(s); {
		to := partEnd(s, from)
		if from > 0 || to < len(s) {
			cut = true
		}
		if part := trimUnderscores(s[from:to]); len(part) > 0 {
			a.part(part, cut)
		}
		from = to
	}
	if cut {
		a.emitFolded(kindCompound, s)
	}
}

// partEnd ends the part of an identifier: at an underscore, before a capital
// behind a small letter, before the last capital of several (HTTPServer).
func partEnd(s []byte, from int) int {
	for i := from + 1; i < len(s); i++ {
		switch {
		case s[i-1] == '_' && s[i] != '_' && i-1 > from:
			return i
		case s[i] == '_' && s[i-1] != '_':
			return i
		case isUpper(s[i]) && isLower(s[i-1]):
			return i
		case isLower(s[i]) && isUpper(s[i-1]) && i-1 > from && isUpper(s[i-2]) && !(s[i] == 's' && i+1 == len(s)):
			return i - 1
		}
	}
	return len(s)
}

func trimUnderscores(s []byte) []byte {
	for len(s) > 0 && s[0] == '_' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] == '_' {
		s = s[:len(s)-1]
	}
	return s
}

// part gives one plain word of letters and digits.
func (a *Analyzer) part(s []byte, inside bool) {
	if isUpper(s[0]) && !inside && len(s) > 1 {
		a.mentions()
	}
	if len(s) <= maxPacked {
		a.packed(s)
		return
	}
	a.lower = appendLower(a.lower[:0], s)
	a.plain(a.lower)
}

// plain gives a lower-case word: stemmed, unless it only carries grammar, and
// the beginning of a longer one.
func (a *Analyzer) plain(s []byte) {
	k := a.lookUp(s)
	a.say(&k, s)
}

// say counts what a lower-case word comes to.
func (a *Analyzer) say(k *known, s []byte) {
	if k.function {
		if a.functions != nil {
			a.functions(s)
		}
		return
	}
	a.cues |= k.cues
	a.count(kindWord, Term(k.term))
	if k.stump != 0 {
		a.count(kindStump, Term(k.stump))
	}
}
