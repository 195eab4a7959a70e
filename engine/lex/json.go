package lex

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// structural members say how a message is built, not what it says: neither
// they nor their values become terms.
var structural = setOf(`type id role signature uuid tool_use_id call_id tool_call_id parentuuid sessionid session_id
 media_type encrypted_content`)

// wrappers hold what is said: only their values become terms.
var wrappers = setOf(`content text input output arguments name data message parts source`)

// maxEncoded is how long a string without any space may be before it is taken
// for encoded data.
const maxEncoded = 512

// maxNested is how deep JSON inside of JSON strings is followed.
const maxNested = 2

// looksLikeJSON tells JSON from text that begins with a bracket.
func looksLikeJSON(s []byte) bool {
	rest := bytes.TrimLeft(s[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	if s[0] == '{' {
		return rest[0] == '"' && bytes.IndexByte(rest, ':') > 0
	}
	return rest[0] == '{' && looksLikeJSON(rest) || rest[0] == '"' || rest[0] == '['
}

// json reads the strings and numbers of a JSON value. It is lenient: broken or
// cut JSON gives what can be seen of it.
func (a *Analyzer) json(s []byte, depth int) {
	skip := false // the value of a structural member
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			body, next := jsonString(s, i)
			i = next
			if isKey(s, next) {
				a.lower = appendLower(a.lower[:0], body)
				if skip = structural[string(a.lower)]; !skip && !wrappers[string(a.lower)] && a.spoken == nil {
					a.jsonText(body, maxNested)
				}
				continue
			}
			if !skip {
				a.jsonText(body, depth)
			}
			skip = false
		case c == ',' || c == '}' || c == '{' || c == '[':
			skip = false
			i++
		case isWordByte(c) || c == '-':
			from := i
			for i < len(s) && (isWordByte(s[i]) || s[i] == '.' || s[i] == '-' || s[i] == '+') {
				i++
			}
			if !skip && c >= '0' && c <= '9' {
				a.run(s[from:i], true)
			}
			skip = false
		default:
			i++
		}
	}
}

// isKey is true where a colon follows.
func isKey(s []byte, i int) bool {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i < len(s) && s[i] == ':'
}

// jsonString returns what is between the quotes, still escaped, and where it goes on.
func jsonString(s []byte, at int) (body []byte, next int) {
	for i := at + 1; ; i++ {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return s[at+1:], len(s)
		}
		i += n
		escapes := i
		for escapes > at+1 && s[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return s[at+1 : i], i + 1
		}
	}
}

// jsonText reads an escaped string, which may hold JSON of its own.
func (a *Analyzer) jsonText(body []byte, depth int) {
	if len(body) > maxEncoded && !bytes.ContainsAny(body, " \\") {
		return
	}
	if bytes.IndexByte(body, '\\') < 0 {
		a.text(body)
		return
	}
	a.plainJSON[depth] = unescape(a.plainJSON[depth][:0], body)
	text := a.plainJSON[depth]
	if depth < maxNested && len(text) > 1 && (text[0] == '{' || text[0] == '[') && looksLikeJSON(text) {
		a.json(text, depth+1)
		return
	}
	a.text(text)
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': ' ', 'f': ' ', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the text of an escaped string. Lone surrogates become U+FFFD.
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		plain := bytes.IndexByte(s[i:], '\\')
		if plain < 0 || i+plain+1 == len(s) {
			return append(dst, s[i:]...)
		}
		dst = append(dst, s[i:i+plain]...)
		i += plain + 1
		if s[i] != 'u' {
			if c := escapes[s[i]]; c != 0 {
				dst = append(dst, c)
			}
			continue
		}
		r, ok := hex4(s, i+1)
		if !ok {
			continue
		}
		i += 4
		if utf16.IsSurrogate(r) && i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
			if low, ok := hex4(s, i+3); ok {
				r = utf16.DecodeRune(r, low)
				i += 6
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func hex4(s []byte, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	var r rune
	for _, c := range s[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
