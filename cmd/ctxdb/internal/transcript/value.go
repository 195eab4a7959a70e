package transcript

import (
	"encoding/base64"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// value is the bytes of one JSON value that scanValue has accepted, or empty for
// one that is not there. Its methods never fail: another kind of value is absent.
type value []byte

func (v value) isObject() bool { return len(v) > 0 && v[0] == '{' }
func (v value) isArray() bool  { return len(v) > 0 && v[0] == '[' }
func (v value) isString() bool { return len(v) > 0 && v[0] == '"' }
func (v value) isTrue() bool   { return string(v) == "true" }

// members calls f for each member of an object, in order. Keys are passed as they
// stand between their quotes: no key that the formats use needs an escape.
func (v value) members(f func(key string, member value)) {
	if !v.isObject() {
		return
	}
	for i := skipSpace(v, 1); v[i] == '"'; {
		keyEnd := stringEnd(v, i)
		key := v[i+1 : keyEnd-1]
		from := skipSpace(v, skipSpace(v, keyEnd)+1)
		to := valueEnd(v, from)
		f(string(key), v[from:to:to])
		if i = skipSpace(v, to); v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
}

// get returns the last member of that name, as encoding/json does.
func (v value) get(name string) (found value) {
	v.members(func(key string, member value) {
		if key == name {
			found = member
		}
	})
	return found
}

// items returns the elements of an array.
func (v value) items() (items []value) {
	if !v.isArray() {
		return nil
	}
	for i := skipSpace(v, 1); v[i] != ']'; {
		to := valueEnd(v, i)
		items = append(items, v[i:to:to])
		if i = skipSpace(v, to); v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
	return items
}

// stringEnd and valueEnd rely on v having been scanned: nothing is checked again.
func stringEnd(v value, i int) int {
	for i++; ; i++ {
		i = plainEnd(v, i)
		if v[i] == '"' {
			return i + 1
		}
		i++ // a backslash: whatever follows is no closing quote
	}
}

func valueEnd(v value, i int) int {
	if v[i] == '"' {
		return stringEnd(v, i)
	}
	depth := 0
	for ; i < len(v); i++ {
		switch v[i] {
		case '"':
			i = stringEnd(v, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of what holds a number or a word
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// str returns a string's text, or "" where it is none or has no lossless text.
func (v value) str() string {
	text, _ := v.text()
	return string(text)
}

// text decodes a string into memory of its own. ok is false where decoding would
// lose something: invalid UTF-8, or half of a surrogate pair.
func (v value) text() (text []byte, ok bool) {
	if !v.isString() {
		return nil, false
	}
	in := v[1 : len(v)-1]
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		next := plainEnd(in, i)
		out = append(out, in[i:next]...)
		if i = next; i == len(in) {
			break
		}
		var r rune
		if r, i, ok = unescape(in, i+1); !ok {
			return nil, false
		}
		out = utf8.AppendRune(out, r)
	}
	return out, utf8.Valid(out)
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes the escape whose letter is at in[i].
func unescape(in []byte, i int) (r rune, next int, ok bool) {
	if in[i] != 'u' {
		return rune(escapes[in[i]]), i + 1, true
	}
	r, next = hex4(in, i+1), i+5
	if !utf16.IsSurrogate(r) {
		return r, next, true
	}
	if next+6 > len(in) || in[next] != '\\' || in[next+1] != 'u' {
		return 0, next, false
	}
	r = utf16.DecodeRune(r, hex4(in, next+2))
	return r, next + 6, r != utf8.RuneError
}

func hex4(in []byte, i int) (r rune) {
	for _, c := range in[i : i+4] {
		r = r<<4 | rune(hexValue(c))
	}
	return r
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// strs returns the strings of an array that have a lossless text.
func (v value) strs() (out []string) {
	for _, item := range v.items() {
		if text, ok := item.text(); ok {
			out = append(out, string(text))
		}
	}
	return out
}

func (v value) uint() (uint64, bool) {
	n, err := strconv.ParseUint(string(v), 10, 64)
	return n, err == nil
}

func (v value) base64() ([]byte, bool) {
	if !v.isString() {
		return nil, false
	}
	out, err := base64.StdEncoding.DecodeString(v.str())
	return out, err == nil
}
