package engine

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// summaryBytes bounds a summary that is taken from the content.
const summaryBytes = 160

// extract takes the line or sentence of a content that tells most: the one
// with the most letters of different words, early ones first.
func extract(content []byte) string {
	var best []byte
	score := 0.0
	rest := content[:min(len(content), 4<<10)]
	for i := 0; len(rest) > 0 && i < 40; i++ {
		n := sentenceEnd(rest)
		s := bytes.TrimSpace(rest[:n])
		rest = rest[n:]
		lead := 1 + 0.08*float64(i)
		if most := float64(len(s)+1) / 3; most/lead <= score {
			continue // even if all its words were the shortest
		}
		if got := telling(s) / lead; got > score {
			best, score = s, got
		}
	}
	return clip(best, summaryBytes)
}

// sentenceEnd is where the first line or sentence ends.
func sentenceEnd(b []byte) int {
	for i, c := range b {
		if c == '\n' || (c == '.' || c == '!' || c == '?') && i+1 < len(b) && (b[i+1] == ' ' || b[i+1] == '\n') {
			return i + 1
		}
	}
	return len(b)
}

// telling weighs a sentence by its different words of three letters and more,
// up to what a summary holds.
func telling(s []byte) float64 {
	s = s[:min(len(s), summaryBytes)]
	var room [64]uint64
	seen := room[:0] // hashes of words
	var lower [summaryBytes]byte
	for i := 0; i < len(s); {
		from, ascii := i, true
		for i < len(s) {
			c := s[i]
			if c >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(s[i:])
				if !unicode.IsLetter(r) {
					break
				}
				ascii = false
				i += n
				continue
			}
			if c|0x20 >= 'a' && c|0x20 <= 'z' {
				lower[i-from] = c | 0x20
			} else if c == '_' || c == '.' || c == '/' {
				lower[i-from] = c
			} else {
				break
			}
			i++
		}
		word := lower[:i-from]
		if !ascii {
			word = bytes.ToLower(s[from:i])
		}
		if len(word) >= 3 {
			if h := xxhash.Sum64(word); !slices.Contains(seen, h) {
				seen = append(seen, h)
			}
		}
		if i < len(s) {
			_, n := utf8.DecodeRune(s[i:])
			i += n
		}
	}
	return float64(len(seen))
}

// clip cuts a text to a number of bytes at a character, on one line.
func clip(b []byte, limit int) string {
	out := bytes.Join(bytes.Fields(bytes.ToValidUTF8(b, []byte("\ufffd"))), []byte(" "))
	if len(out) <= limit {
		return string(out)
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(out[cut]) {
		cut--
	}
	return string(out[:cut]) + "…"
}
