package zdict

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// sequence is a run of literals and the match that follows it.
type sequence struct {
	literals uint32 // bytes
	match    uint32 // bytes, at least minMatch
	offset   uint32 // offset value: 1 to 3 repeat, else distance + 3
}

// match is one that was found at a position of the text.
type match struct {
	at, length int
	distance   uint32
	gain       int32 // what it spares, in 1/256 bit
}

const (
	recentBytes = 4 // that a position has in common with those of its chain
	recentBits  = 12
	recentDepth = 8 // positions of a chain that are compared

	enough = 48 // bytes: a match that is taken at once
	hurry  = 5  // a run of literals of 1<<hurry bytes makes the next search skip one

	slack = 8 // bytes behind the text that may be read
)

// matcher finds what a block repeats of the dictionary or of itself.
type matcher struct {
	text   []byte // dictionary, block, slack
	dict   int    // bytes of the dictionary
	places places
	prices prices

	head [1 << recentBits]uint32 // 1 + the last position of the block by hash; 0: none
	next []uint32                // the one before with the same hash
	cost []int32                 // of the literals before a position of the block, in 1/256 bit

	last      [repeats]uint32 // distances
	sequences []sequence
	literals  []byte
}

// prices are what things take, in 1/256 bit.
type prices struct {
	literal [256]int32
	match   [64]int32 // a length by its code, its bits included
	offset  [64]int32
	run     int32 // of the number of literals, in the mean
}

// guessed are the prices while nothing is known.
func guessed() (p prices) {
	for i := range p.literal {
		p.literal[i] = 5 << 8
	}
	for i := range p.match {
		p.match[i] = 4 << 8
		p.offset[i] = int32(i+4) << 8
	}
	for i, c := range mlCodes {
		p.match[i] += int32(c.bits) << 8
	}
	p.run = 3 << 8
	return p
}

func newMatcher(content []byte) *matcher {
	return &matcher{text: slices.Clip(content), dict: len(content), places: newPlaces(content), prices: guessed()}
}

// clone shares what blocks don't change.
func (m *matcher) clone() *matcher {
	return &matcher{text: slices.Clone(m.text[:m.dict]), dict: m.dict, places: m.places, prices: m.prices}
}

// enter takes in a block.
func (m *matcher) enter(block []byte) {
	m.text = append(append(m.text[:m.dict], block...), make([]byte, slack)...)
	clear(m.head[:])
	if len(m.next) < len(block) {
		m.next = make([]uint32, len(block))
	}
	m.cost = append(m.cost[:0], 0)
	sum := int32(0)
	for _, b := range block {
		sum += m.prices.literal[b]
		m.cost = append(m.cost, sum)
	}
	m.last = firstDistances
	m.sequences, m.literals = m.sequences[:0], m.literals[:0]
}

// parse cuts a block into sequences and the literals behind the last one. A
// match is put off while the next position has a better one.
func (m *matcher) parse(block []byte) {
	m.enter(block)
	i, run, end := m.dict, m.dict, m.dict+len(block) // run: where literals begin
	for i+minMatch < end {
		best := m.search(i, end, i > run)
		m.insert(i)
		if best.gain <= 0 {
			i = m.skip(i, i+1+(i-run)>>hurry, end)
			continue
		}
		i++
		for best.length < enough && i-best.at == 1 && i+minMatch < end {
			next := m.search(i, end, true)
			m.insert(i)
			i++
			if next.gain > best.gain {
				best = next
			}
		}
		best = m.backwards(best, run)
		m.take(best, run)
		run = best.at + best.length
		i = m.skip(i-1, run, end)
	}
	m.literals = append(m.literals, m.text[run:end]...)
}

// skip moves from i, which is known, to a position, and makes known what lies
// between.
func (m *matcher) skip(i, to, end int) int {
	for i++; i < min(to, end-minMatch); i++ {
		m.insert(i)
	}
	return to
}

// insert makes a position known to those behind it.
func (m *matcher) insert(i int) {
	h := recentHash(binary.LittleEndian.Uint64(m.text[i:]))
	m.next[i-m.dict] = m.head[h]
	m.head[h] = uint32(i-m.dict) + 1
}

func recentHash(v uint64) uint32 {
	return uint32(v << (64 - 8*recentBytes) * 0x9E3779B97F4A7C15 >> (64 - recentBits))
}

// search returns the best match at i; its gain is 0 where none is worth it.
// literals says that some come before it: else the last distance can't be meant.
func (m *matcher) search(i, end int, literals bool) match {
	best := match{at: i}
	for r, distance := range m.last {
		if int(distance) <= i && (literals || r > 0) {
			m.consider(&best, i, i-int(distance), end, m.prices.offset[ofCode(uint32(r)+1)])
		}
	}
	v := binary.LittleEndian.Uint64(m.text[i:])
	earlier := m.head[recentHash(v)]
	for n := 0; earlier != 0 && n < recentDepth; n++ {
		m.far(&best, i, m.dict+int(earlier)-1, end)
		earlier = m.next[earlier-1]
	}
	m.inDictionary(&best, i, end, bits.ReverseBytes64(v))
	return best
}

// far considers a match whose distance must be written.
func (m *matcher) far(best *match, i, earlier, end int) {
	m.consider(best, i, earlier, end, m.prices.offset[ofCode(uint32(i-earlier)+repeats)])
}

// consider a match of the text at i with that at an earlier position.
func (m *matcher) consider(best *match, i, earlier, end int, offset int32) {
	if n := best.length; n > 0 && i+n < end && m.text[earlier+n] != m.text[i+n] {
		return // no longer than the best
	}
	n := common(m.text, earlier, i, end)
	if n < minMatch {
		return
	}
	spared := m.cost[i+n-m.dict] - m.cost[i-m.dict]
	gain := spared - offset - m.prices.match[mlCode(uint32(n-minMatch))] - m.prices.run
	if gain > best.gain {
		*best = match{i, n, uint32(i - earlier), gain}
	}
}

// common is how many bytes from i and from j on are the same, j up to end.
func common(text []byte, i, j, end int) int {
	start := j
	for ; j+8 <= end; i, j = i+8, j+8 {
		if x := binary.LittleEndian.Uint64(text[i:]) ^ binary.LittleEndian.Uint64(text[j:]); x != 0 {
			return j - start + bits.TrailingZeros64(x)/8
		}
	}
	for j < end && text[i] == text[j] {
		i, j = i+1, j+1
	}
	return j - start
}

// backwards extends a match over the literals before it.
func (m *matcher) backwards(x match, run int) match {
	for x.at > run && int(x.distance) < x.at && m.text[x.at-1] == m.text[x.at-1-int(x.distance)] {
		x.at--
		x.length++
	}
	return x
}

// take appends the sequence of a match, with the literals from run on.
func (m *matcher) take(x match, run int) {
	m.literals = append(m.literals, m.text[run:x.at]...)
	s := sequence{literals: uint32(x.at - run), match: uint32(x.length)}
	s.offset, m.last = offsetValue(x.distance, s.literals == 0, m.last)
	m.sequences = append(m.sequences, s)
}

// offsetValue is how a distance is written, and the last distances behind it:
// RFC 8878, section 3.1.1.5. Without literals before it the last one can't be
// meant: values 1 and 2 are those before it, and 3 is the last less one.
func offsetValue(distance uint32, bare bool, last [repeats]uint32) (value uint32, next [repeats]uint32) {
	shift := uint32(0)
	if bare {
		shift = 1
	}
	switch {
	case distance == last[0] && !bare:
		return 1, last
	case distance == last[1]:
		return 2 - shift, [repeats]uint32{last[1], last[0], last[2]}
	case distance == last[2]:
		return 3 - shift, [repeats]uint32{last[2], last[0], last[1]}
	case distance == last[0]-1 && bare:
		return 3, [repeats]uint32{last[0] - 1, last[0], last[1]}
	}
	return distance + repeats, [repeats]uint32{distance, last[0], last[1]}
}
