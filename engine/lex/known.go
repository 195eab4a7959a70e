package lex

import (
	"encoding/binary"
	"math/bits"
)

// known is what a lower-case word comes to. Text repeats its words, so it is
// worked out once.
type known struct {
	term, stump uint32 // stump is 0 for short words
	cues        Cue
	function    bool
}

// learn works a lower-case word out.
func (a *Analyzer) learn(word []byte) known {
	k := known{function: functionWords[string(word)], cues: cueOf(word)}
	if k.function {
		return k
	}
	base := []byte(stem(string(word)))
	var t Term
	t, a.scratch = termOf(kindWord, base, a.scratch)
	k.term = uint32(t)
	if len(base) >= stumpLetters && isLower(base[0]) && isASCII(base[:stumpLetters]) {
		t, a.scratch = termOf(kindStump, base[:stumpLetters], a.scratch)
		k.stump = uint32(t)
	}
	return k
}

// Memories of words start over when they are full.
const maxKnown = 1 << 14

// lookUp returns what is known of any lower-case word.
func (a *Analyzer) lookUp(word []byte) known {
	if k, ok := a.known[string(word)]; ok {
		return k
	}
	if a.known == nil || len(a.known) >= maxKnown {
		a.known = make(map[string]known)
	}
	k := a.learn(word)
	a.known[string(word)] = k
	return k
}

// maxPacked is how long a word may be that two integers hold.
const maxPacked = 16

// packedWords remembers words of ASCII letters and digits by their bytes in two
// integers: a table with open addressing.
type packedWords struct {
	slots []packedWord
	used  int
}

type packedWord struct {
	lo, hi uint64 // both 0: free
	known
}

// pack makes a word lower case and two integers. What is missing of 16 bytes is
// spaces, which no word has.
//
// REQUIRES: 1 to maxPacked ASCII letters and digits. Setting the bit of 0x20 makes
// a letter small and leaves a digit as it is.
func pack(s []byte) (lo, hi uint64) {
	const small = 0x2020202020202020
	n := len(s)
	switch {
	case n > 8:
		lo = binary.LittleEndian.Uint64(s)
		hi = binary.LittleEndian.Uint64(s[n-8:]) >> (8 * (16 - n))
	case n == 8:
		lo = binary.LittleEndian.Uint64(s)
	case n >= 4:
		lo = uint64(binary.LittleEndian.Uint32(s)) | uint64(binary.LittleEndian.Uint32(s[n-4:]))<<(8*(n-4))
	default:
		for i, c := range s {
			lo |= uint64(c) << (8 * i)
		}
	}
	return lo | small, hi | small
}

func (p *packedWords) at(lo, hi uint64) *packedWord {
	mask := uint64(len(p.slots) - 1)
	h := (lo ^ bits.RotateLeft64(hi*0xC2B2AE3D27D4EB4F, 31)) * 0x9E3779B185EBCA87
	for i := h >> 40; ; i++ {
		if w := &p.slots[i&mask]; w.lo == lo && w.hi == hi || w.lo == 0 {
			return w
		}
	}
}

// room makes sure that one more word has a slot.
func (p *packedWords) room() {
	switch {
	case p.slots == nil:
		p.slots = make([]packedWord, 256)
	case p.used >= maxKnown:
		clear(p.slots)
		p.used = 0
	case 2*p.used >= len(p.slots):
		old := p.slots
		p.slots = make([]packedWord, 2*len(old))
		for i := range old {
			if w := &old[i]; w.lo != 0 {
				*p.at(w.lo, w.hi) = *w
			}
		}
	}
}

// packed gives a short plain word.
func (a *Analyzer) packed(s []byte) {
	lo, hi := pack(s)
	if len(a.short.slots) == 0 {
		a.short.room()
	}
	w := a.short.at(lo, hi)
	if w.lo == 0 {
		a.lower = appendLower(a.lower[:0], s)
		k := a.learn(a.lower)
		a.short.room()
		w = a.short.at(lo, hi)
		*w = packedWord{lo, hi, k}
		a.short.used++
	}
	if a.functions != nil && w.function {
		a.lower = appendLower(a.lower[:0], s)
	}
	a.say(&w.known, a.lower)
}
