package replay

import (
	"strings"
	"unicode/utf8"
)

// Strings that can tell one text from another, and how long they have to be.
const (
	minNameBytes = 8  // identifiers with a case change, an underscore or a digit inside
	minPathBytes = 8  // names joined by slashes
	minLineRunes = 24 // whole lines, without white space and line numbers around them
)

// mark is a string in a text, by its hash.
type mark struct {
	hash     uint64
	from, to int // bytes of the text
}

// marks yields the strings of a text that may be distinctive: identifiers, paths
// and lines, in the order in which they begin in each of these sorts.
func marks(text string, yield func(mark)) {
	names(text, yield)
	paths(text, yield)
	lines(text, yield)
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isPathByte(c byte) bool { return isWordByte(c) || c == '.' || c == '-' || c >= utf8.RuneSelf }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// runs yields the maximal runs of bytes that belong.
func runs(text string, belongs func(byte) bool, yield func(from, to int)) {
	for i := 0; i < len(text); {
		if !belongs(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && belongs(text[i]) {
			i++
		}
		yield(from, i)
	}
}

func names(text string, yield func(mark)) {
	runs(text, isWordByte, func(from, to int) {
		for from < to && isDigit(text[from]) {
			from++
		}
		if w := text[from:to]; len(w) >= minNameBytes && isComposed(strings.Trim(w, "_")) {
			yield(mark{hash(w), from, to})
		}
	})
}

// isComposed: someCase, some_case or case9, unlike a word of a language.
func isComposed(w string) bool {
	for i := 1; i < len(w); i++ {
		a, b := w[i-1], w[i]
		switch {
		case b == '_':
			return true
		case a >= 'a' && b >= 'A' && b <= 'Z':
			return true
		case !isDigit(a) && isDigit(b):
			return true
		}
	}
	return false
}

func paths(text string, yield func(mark)) {
	runs(text, func(c byte) bool { return c == '/' || isPathByte(c) }, func(from, to int) {
		// Two slashes in a row end a path, as after "https:".
		for _, piece := range strings.SplitAfter(text[from:to], "//") {
			start, end := from, from+len(piece)
			from = end
			for start < end && text[start] == '/' {
				start++
			}
			for start < end && (text[end-1] == '/' || text[end-1] == '.') {
				end--
			}
			if p := text[start:end]; len(p) >= minPathBytes && strings.Contains(p, "/") {
				yield(mark{hash(p), start, end})
			}
		}
	})
}

func lines(text string, yield func(mark)) {
	for from := 0; from < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			end = from + n
		}
		_, skip := lineNumber(text[from:end])
		line := text[from+skip : end]
		start := from + skip + len(line) - len(strings.TrimLeft(line, " \t\r"))
		if line = strings.TrimSpace(line); utf8.RuneCountInString(line) >= minLineRunes {
			yield(mark{hash(line), start, start + len(line)})
		}
		from = end + 1
	}
}

// lineNumber returns the number that a tool put before a line, and the length of
// all it put there; 0, 0 if it did not. Tools write the number, then a tab or an
// arrow.
func lineNumber(line string) (number, length int) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	start := i
	for i < len(line) && isDigit(line[i]) && i-start < 9 {
		number = 10*number + int(line[i]-'0')
		i++
	}
	if i == start {
		return 0, 0
	}
	for _, sep := range []string{"\t", "→"} {
		if strings.HasPrefix(line[i:], sep) {
			return number, i + len(sep)
		}
	}
	return 0, 0
}

// hash is FNV-1a with a finalizer. Two strings that share one would only make
// one of them look less distinctive.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}
