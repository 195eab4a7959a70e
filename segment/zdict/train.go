package zdict

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/huff0"
)

const (
	dictionaryMagic = 0xEC30A437
	literalsLog     = 9 // states of a table, as a power of 2
	offsetLog       = 8
	matchLog        = 9
)

// statistics of the samples.
type statistics struct {
	literals     [256]uint32
	runs         []uint32 // by code
	offsets      []uint32
	matchLengths []uint32
}

// Train makes an encoder of the content of a dictionary, 8 bytes to 1 MiB, which it
// keeps, and of samples of the blocks to come, each at most MaxBlock bytes, which it
// only reads. id, 1 to 255, is that of the dictionary in its frames. The same input
// gives the same encoder.
func Train(id uint8, content []byte, samples [][]byte) (*Encoder, error) {
	const least, most = 8, 1 << 20 // the distances at the start point to the least
	if id == 0 || len(content) < least || len(content) > most {
		return nil, fmt.Errorf("zdict: dictionary %d of %d bytes", id, len(content))
	}
	e := &Encoder{id: id, matcher: newMatcher(content)}
	s := statistics{
		runs: make([]uint32, maxLLCode+1), matchLengths: make([]uint32, maxMLCode+1),
		offsets: make([]uint32, ofCode(uint32(len(content)+MaxBlock+repeats))+1),
	}
	for b := ' '; b <= '~'; b++ {
		s.literals[b] = 1 // any text may have it
	}
	for _, b := range samples {
		e.matcher.parse(b)
		e.count(&s)
	}
	literals, err := e.literalTable(&s.literals)
	if err != nil {
		return nil, err
	}
	e.tables = tables{
		literals: newTable(distribute(s.runs, literalsLog)),
		offset:   newTable(distribute(s.offsets, offsetLog)),
		match:    newTable(distribute(s.matchLengths, matchLog)),
	}
	e.matcher.prices = e.priced(&s)
	e.dictionary = e.encodeDictionary(literals, content)
	return e, nil
}

// count adds what the matcher found in a sample.
func (e *Encoder) count(s *statistics) {
	for _, b := range e.matcher.literals {
		s.literals[b]++
	}
	e.encodeCodes(e.matcher.sequences)
	for _, c := range e.codes {
		s.runs[c.literals]++
		s.offsets[c.offset]++
		s.matchLengths[c.match]++
	}
}

// literalTable makes the table of literals and returns its description. A table
// of many bytes that are all as likely has none: then it is of ASCII only.
func (e *Encoder) literalTable(counts *[256]uint32) ([]byte, error) {
	b, err := e.describe(counts)
	if errors.Is(err, huff0.ErrIncompressible) {
		ascii := *counts
		clear(ascii[1<<7:])
		b, err = e.describe(&ascii)
	}
	if err != nil {
		return nil, fmt.Errorf("zdict: %w", err)
	}
	return b, nil
}

func (e *Encoder) describe(counts *[256]uint32) ([]byte, error) {
	var made huff0.Scratch
	if err := made.BuildCTable(counts); err != nil {
		return nil, err
	}
	b, err := made.AppendTable(nil)
	if err != nil {
		return nil, err
	}
	e.shared, _, err = huff0.ReadTable(b, nil) // as decoders do
	return b, err
}

// encodeDictionary: RFC 8878, section 5.
func (e *Encoder) encodeDictionary(literals, content []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, dictionaryMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.id))
	b = append(b, literals...)
	for _, t := range []*table{e.tables.offset, e.tables.match, e.tables.literals} {
		b = appendDistribution(b, t.distribution)
	}
	for _, distance := range firstDistances {
		b = binary.LittleEndian.AppendUint32(b, distance)
	}
	return append(b, content...)
}

// priced are the prices under the encoder's tables.
func (e *Encoder) priced(s *statistics) (p prices) {
	const longest = 11 << 8 // of a literal
	total := uint32(0)
	for _, n := range s.literals {
		total += n
	}
	for b, n := range s.literals {
		p.literal[b] = min(log2(total)-log2(max(n, 1)), longest)
	}
	p.match, p.offset = e.tables.match.cost, e.tables.offset.cost
	for i, c := range mlCodes {
		p.match[i] += int32(c.bits) << 8
	}
	for i := range s.offsets {
		p.offset[i] += int32(i) << 8
	}
	var sum, n int64
	for i, count := range s.runs {
		sum += int64(count) * int64(e.tables.literals.cost[i]+int32(llCodes[i].bits)<<8)
		n += int64(count)
	}
	p.run = int32(sum / max(n, 1))
	return p
}
