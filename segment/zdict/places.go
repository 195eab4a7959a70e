package zdict

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// places is the positions of a dictionary in the order of the text that follows:
// the neighbours of where another text would stand have most in common with it.
type places struct {
	text   []byte   // the dictionary
	at     []uint32 // in the order of key
	groups []uint32 // by a hash of the first 5 bytes: 1 + the first key that has them; 0: none
	shift  uint8    // of the hash
	sieve  []uint64 // a bit for each hash that occurs
}

const (
	keyBytes   = 8
	groupBytes = 5  // a shorter match is not worth its distance
	sieveBits  = 19 // 64 KiB, which stays in the processor's cache
	sameDepth  = 8  // equal keys that are compared
	sortBytes  = 64 // of text that decide the order
)

func groupOf(key uint64) uint64     { return key >> (64 - 8*groupBytes) }
func hashGroup(group uint64) uint64 { return group * 0x9E3779B97F4A7C15 }

func newPlaces(text []byte) places {
	list := sortedPlaces(text)
	distinct := 0
	for i, x := range list {
		if i == 0 || groupOf(x.key) != groupOf(list[i-1].key) {
			distinct++
		}
	}
	log := max(bits.Len(uint(distinct+distinct/3)), 1) // three quarters full at most: a miss probes few
	p := places{
		text: text, at: make([]uint32, len(list)), groups: make([]uint32, 1<<log),
		shift: uint8(64 - log), sieve: make([]uint64, 1<<sieveBits/64),
	}
	for i, x := range list {
		p.at[i] = x.at
		if i == 0 || groupOf(x.key) != groupOf(list[i-1].key) {
			p.group(hashGroup(groupOf(x.key)), i)
		}
	}
	return p
}

// place is a position of the dictionary and the next 8 bytes there.
type place struct {
	key uint64
	at  uint32
}

// sortedPlaces orders them by counting the first 2 bytes, then by comparing.
func sortedPlaces(text []byte) []place {
	n := max(len(text)-keyBytes+1, 0)
	list, ends := make([]place, n), make([]int, 1<<16)
	for i := range n {
		ends[binary.BigEndian.Uint16(text[i:])]++
	}
	total := 0
	for i, count := range ends {
		ends[i] = total // where they begin, for now
		total += count
	}
	for i := range n {
		key := binary.BigEndian.Uint64(text[i:])
		list[ends[key>>48]] = place{key, uint32(i)}
		ends[key>>48]++
	}
	rest := func(p place) []byte { return text[p.at+keyBytes : min(int(p.at)+sortBytes, len(text))] }
	start := 0
	for _, end := range ends {
		slices.SortFunc(list[start:end], func(a, b place) int {
			if a.key != b.key {
				return cmp.Compare(a.key, b.key)
			}
			return cmp.Or(bytes.Compare(rest(a), rest(b)), cmp.Compare(a.at, b.at))
		})
		start = end
	}
	return list
}

// key is the next 8 bytes at the i-th place, the first one highest.
func (p *places) key(i int) uint64 { return binary.BigEndian.Uint64(p.text[p.at[i]:]) }

// group notes that the keys of a group begin with the i-th.
func (p *places) group(hash uint64, i int) {
	bit := hash >> (64 - sieveBits)
	p.sieve[bit>>6] |= 1 << (bit & 63)
	k := hash >> p.shift
	for p.groups[k] != 0 {
		k = (k + 1) % uint64(len(p.groups))
	}
	p.groups[k] = uint32(i) + 1
}

// find returns the first key that is not below key, and the first one of its
// group. ok is false where no place begins with the same 5 bytes.
func (p *places) find(key uint64) (i, first int, ok bool) {
	group := groupOf(key)
	hash := hashGroup(group)
	bit := hash >> (64 - sieveBits)
	if p.sieve[bit>>6]>>(bit&63)&1 == 0 {
		return 0, 0, false
	}
	k := hash >> p.shift
	for {
		g := p.groups[k]
		if g == 0 {
			return 0, 0, false
		}
		if first = int(g - 1); groupOf(p.key(first)) == group {
			return p.notBelow(first, key), first, true
		}
		k = (k + 1) & uint64(len(p.groups)-1)
	}
}

// notBelow returns the first key from i on that is not below key: in steps that
// double, since groups are small, then by halves.
func (p *places) notBelow(i int, key uint64) int {
	low, high := i, i
	for step := 1; high < len(p.at) && p.key(high) < key; step *= 2 {
		low, high = high+1, high+step
	}
	for high = min(high, len(p.at)); low < high; {
		if middle := int(uint(low+high) / 2); p.key(middle) < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// inDictionary considers the longest matches of the text at i, which begins with
// key.
func (m *matcher) inDictionary(best *match, i, end int, key uint64) {
	p := &m.places
	k, first, ok := p.find(key)
	if !ok {
		return
	}
	var before, behind int // bytes in common
	if k > first {
		before = bits.LeadingZeros64(p.key(k-1)^key) / 8
	}
	if k < len(p.at) {
		behind = bits.LeadingZeros64(p.key(k)^key) / 8
	}
	switch {
	case behind == keyBytes:
		for stop := min(k+sameDepth, len(p.at)); k < stop && p.key(k) == key; k++ {
			m.far(best, i, int(p.at[k]), end)
		}
	case behind > before:
		m.far(best, i, int(p.at[k]), end)
	default:
		m.far(best, i, int(p.at[k-1]), end)
	}
}
