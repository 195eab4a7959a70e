package lex

import "unicode/utf8"

// A byte is of one class. Lower, upper, digit and underscore make words.
const (
	classLower = 1 << iota
	classUpper
	classDigit
	classUnder
	classSpace // and every control character
	classHigh  // of a character beyond ASCII
	classJoiner

	classWord = classLower | classUpper | classDigit | classUnder
)

var classes = func() (of [256]byte) {
	for c := range of {
		switch b := byte(c); {
		case b <= ' ':
			of[c] = classSpace
		case b >= utf8.RuneSelf:
			of[c] = classHigh
		case b >= 'a' && b <= 'z':
			of[c] = classLower
		case b >= 'A' && b <= 'Z':
			of[c] = classUpper
		case b >= '0' && b <= '9':
			of[c] = classDigit
		case b == '_':
			of[c] = classUnder
		case b == '.' || b == '/' || b == '-' || b == ':' || b == '@' || b == '\\':
			of[c] = classJoiner
		}
	}
	return of
}()

func isWordByte(c byte) bool { return classes[c]&classWord != 0 }
func isUpper(c byte) bool    { return classes[c] == classUpper }
func isLower(c byte) bool    { return classes[c] == classLower }

// isJoiner is true of what makes one compound of two words.
func isJoiner(c byte) bool { return classes[c] == classJoiner }

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendLower(dst, s []byte) []byte {
	for _, c := range s {
		if isUpper(c) {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
