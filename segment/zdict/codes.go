package zdict

import "math/bits"

// Lengths and offsets become a code, whose probability the tables hold, and bits
// that are written as they are (RFC 8878, section 3.1.1.3.2.1).

const (
	minMatch  = 3  // that the format can express
	maxLLCode = 35 // of a run of literals
	maxMLCode = 52 // of a match
	repeats   = 3  // offset values up to here are repeated distances
	plainML   = 32 // lengths of matches below, less minMatch, are their own code
)

// code is the least value that has it, and the bits that say how much more it is.
type code struct {
	base uint32
	bits uint8
}

var llCodes = [maxLLCode + 1]code{
	{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 0}, {11, 0}, {12, 0}, {13, 0}, {14, 0}, {15, 0},
	{16, 1}, {18, 1}, {20, 1}, {22, 1}, {24, 2}, {28, 2}, {32, 3}, {40, 3}, {48, 4}, {64, 6}, {128, 7}, {256, 8}, {512, 9}, {1024, 10},
	{2048, 11}, {4096, 12}, {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16},
}

// mlCodes are of match lengths less minMatch.
var mlCodes = func() (t [maxMLCode + 1]code) {
	for i := range plainML {
		t[i] = code{uint32(i), 0}
	}
	base := uint32(plainML)
	for i, b := range [...]uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16} {
		t[plainML+i] = code{base, b}
		base += 1 << b
	}
	return t
}()

var llShort, mlShort = shortCodes(llCodes[:]), shortCodes(mlCodes[:])

// shortCodes maps the small values to their code.
func shortCodes(codes []code) (t [256]uint8) {
	c := 0
	for v := range t {
		for c+1 < len(codes) && codes[c+1].base <= uint32(v) {
			c++
		}
		t[v] = uint8(c)
	}
	return t
}

func llCode(v uint32) uint8 {
	if v < 256 {
		return llShort[v]
	}
	return uint8(bits.Len32(v) - 9 + 27)
}

// mlCode is the code of a match of v+minMatch bytes.
func mlCode(v uint32) uint8 {
	if v < 256 {
		return mlShort[v]
	}
	return uint8(bits.Len32(v) - 9 + 44)
}

// ofCode is the code of an offset value, which is at least 1.
func ofCode(v uint32) uint8 { return uint8(bits.Len32(v) - 1) }

// firstDistances are those that a block begins with.
var firstDistances = [repeats]uint32{1, 4, 8}
