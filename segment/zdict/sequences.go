package zdict

// modes of a table in a sequences section: RFC 8878, section 3.1.1.3.2.1.
const (
	modePredefined = 0
	modeRepeat     = 3 // the dictionary's
)

// tables are those of a sequence's parts.
type tables struct{ literals, offset, match *table }

// predefined are those of RFC 8878, section 3.1.1.3.2.2.
var predefined = tables{
	literals: newTable(distribution{6, []int16{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
	}}),
	offset: newTable(distribution{5, []int16{
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
	}}),
	match: newTable(distribution{6, []int16{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
	}}),
}

// coded is a sequence as codes.
type coded struct{ literals, offset, match uint8 }

// encodeCodes fills the codes of the sequences in.
func (e *Encoder) encodeCodes(list []sequence) {
	e.codes = e.codes[:0]
	for _, s := range list {
		e.codes = append(e.codes, coded{llCode(s.literals), ofCode(s.offset), mlCode(s.match - minMatch)})
	}
}

// appendSequences writes the sequences section of a block, each part with the
// cheaper table.
func (e *Encoder) appendSequences(dst []byte, list []sequence) []byte {
	switch n := len(list); {
	case n == 0:
		return append(dst, 0)
	case n < 1<<7:
		dst = append(dst, byte(n))
	case n < 0x7F00:
		dst = append(dst, byte(n>>8|1<<7), byte(n))
	default:
		dst = append(dst, 0xFF, byte(n-0x7F00), byte((n-0x7F00)>>8))
	}
	e.encodeCodes(list)
	var own, other [3]int64
	for _, c := range e.codes {
		e.tables.costs(&own, c)
		predefined.costs(&other, c)
	}
	t, modes := e.tables, [3]byte{modeRepeat, modeRepeat, modeRepeat}
	for i, p := range [3]**table{&t.literals, &t.offset, &t.match} {
		if other[i] < own[i] {
			*p, modes[i] = [3]*table{predefined.literals, predefined.offset, predefined.match}[i], modePredefined
		}
	}
	return e.appendBits(append(dst, modes[0]<<6|modes[1]<<4|modes[2]<<2), list, t)
}

// costs adds what a sequence's codes take.
func (t *tables) costs(sum *[3]int64, c coded) {
	sum[0] += int64(t.literals.cost[c.literals])
	sum[1] += int64(t.offset.cost[c.offset])
	sum[2] += int64(t.match.cost[c.match])
}

// appendBits writes the sequences, the last one first: a decoder begins at the
// end.
func (e *Encoder) appendBits(dst []byte, list []sequence, t tables) []byte {
	w := bitWriter{out: dst}
	last := len(list) - 1
	c := e.codes[last]
	match, offset, literals := t.match.first(c.match), t.offset.first(c.offset), t.literals.first(c.literals)
	w.rest(list[last], c)
	for i := last - 1; i >= 0; i-- {
		c = e.codes[i]
		offset = t.offset.encode(&w, offset, c.offset)
		match = t.match.encode(&w, match, c.match)
		literals = t.literals.encode(&w, literals, c.literals)
		w.rest(list[i], c)
	}
	w.add(uint64(match), t.match.log)
	w.add(uint64(offset), t.offset.log)
	w.add(uint64(literals), t.literals.log)
	w.add(1, 1) // where the bits end
	return w.flush()
}

// rest writes what the codes leave open.
func (w *bitWriter) rest(s sequence, c coded) {
	w.add(uint64(s.literals-llCodes[c.literals].base), llCodes[c.literals].bits)
	w.add(uint64(s.match-minMatch-mlCodes[c.match].base), mlCodes[c.match].bits)
	w.add(uint64(s.offset), c.offset)
}
