package transcript

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// maxDepth is the nesting that encoding/json accepts too.
const maxDepth = 10000

var (
	errCut  = errors.New("the JSON value is cut off")
	errDeep = fmt.Errorf("JSON nested deeper than %d levels", maxDepth)
)

// scanValue returns the length of the JSON value that starts at b[0], or errCut when b
// ends inside it. It accepts what encoding/json accepts, invalid UTF-8 included.
func scanValue(b []byte) (int, error) {
	return scanAny(b, 0, 0)
}

func scanAny(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, errCut
	}
	switch c := b[i]; {
	case c == '"':
		return scanString(b, i)
	case c == '{':
		return scanObject(b, i, depth+1)
	case c == '[':
		return scanArray(b, i, depth+1)
	case c == '-' || c >= '0' && c <= '9':
		return scanNumber(b, i)
	case c == 't':
		return scanWord(b, i, "true")
	case c == 'f':
		return scanWord(b, i, "false")
	case c == 'n':
		return scanWord(b, i, "null")
	}
	return i, badByte(b, i)
}

func badByte(b []byte, i int) error {
	if i >= len(b) {
		return errCut
	}
	if b[i] > 0x20 && b[i] < 0x7f {
		return fmt.Errorf("no JSON: unexpected %q at byte %d of the record", b[i], i)
	}
	return fmt.Errorf("no JSON: unexpected byte 0x%02x at byte %d of the record", b[i], i)
}

func scanObject(b []byte, i, depth int) (int, error) {
	if depth > maxDepth {
		return i, errDeep
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, badByte(b, i)
		}
		var err error
		if i, err = scanString(b, i); err != nil {
			return i, err
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return i, badByte(b, i)
		}
		if i, err = scanAny(b, skipSpace(b, i+1), depth); err != nil {
			return i, err
		}
		if i = skipSpace(b, i); i < len(b) && b[i] == '}' {
			return i + 1, nil
		}
		if i >= len(b) || b[i] != ',' {
			return i, badByte(b, i)
		}
		i = skipSpace(b, i+1)
	}
}

func scanArray(b []byte, i, depth int) (int, error) {
	if depth > maxDepth {
		return i, errDeep
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = scanAny(b, i, depth); err != nil {
			return i, err
		}
		if i = skipSpace(b, i); i < len(b) && b[i] == ']' {
			return i + 1, nil
		}
		if i >= len(b) || b[i] != ',' {
			return i, badByte(b, i)
		}
		i = skipSpace(b, i+1)
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// scanString expects a quote at b[i] and returns the position behind its partner.
func scanString(b []byte, i int) (int, error) {
	for i++; ; i++ {
		i = plainEnd(b, i)
		if i >= len(b) {
			return i, errCut
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			var err error
			if i, err = scanEscape(b, i+1); err != nil {
				return i, err
			}
		default:
			return i, badByte(b, i)
		}
	}
}

// scanEscape checks the escape whose letter is at b[i] and returns its last position.
func scanEscape(b []byte, i int) (int, error) {
	if i >= len(b) {
		return i, errCut
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i, nil
	case 'u':
		for range 4 {
			if i++; i >= len(b) || hexValue(b[i]) < 0 {
				return i, badByte(b, i)
			}
		}
		return i, nil
	}
	return i, badByte(b, i)
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainEnd returns the position of the first quote, backslash or control byte at or
// after i, or len(b). It looks at eight bytes at a time, as in "Bit Twiddling Hacks"
// (Anderson): a borrow can only mark a byte above one that is truly marked, so the
// lowest mark is exact.
func plainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(lowBits*'"'), x^(lowBits*'\\')
		mark := (quote-lowBits)&^quote | (slash-lowBits)&^slash | (x-lowBits*0x20)&^x
		if mark &= highBits; mark != 0 {
			return i + bits.TrailingZeros64(mark)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

func scanNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	var err error
	if i < len(b) && b[i] == '0' {
		i++
	} else if i, err = scanDigits(b, i); err != nil {
		return i, err
	}
	if i < len(b) && b[i] == '.' {
		if i, err = scanDigits(b, i+1); err != nil {
			return i, err
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return scanDigits(b, i)
	}
	return i, nil
}

func scanDigits(b []byte, i int) (int, error) {
	if i >= len(b) || b[i] < '0' || b[i] > '9' {
		return i, badByte(b, i)
	}
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i, nil
}

func scanWord(b []byte, i int, word string) (int, error) {
	for k := range len(word) {
		if i+k >= len(b) || b[i+k] != word[k] {
			return i + k, badByte(b, i+k)
		}
	}
	return i + len(word), nil
}
