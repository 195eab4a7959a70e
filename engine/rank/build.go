package rank

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ctxdb/engine/lex"
)

// Source is a part that goes into another.
type Source struct {
	Part Part
	// Base is added to its ordinals.
	Base uint32
	// Drop names turns that are forgotten: neither they nor their words get in.
	// nil: none.
	Drop func(ordinal uint32) bool
}

// Build encodes parts as one. They are given in the order of their turns, with
// bases that make ordinals ascend. The same sources give the same bytes.
func Build(sources ...Source) ([]byte, error) {
	b := builder{speakers: make(map[string]uint16), lists: make(map[uint64]builtList)}
	for _, source := range sources {
		if err := b.addTurns(source); err != nil {
			return nil, err
		}
	}
	b.sortSpeakers()
	b.seat()
	terms, err := b.addTerms(sources)
	if err != nil {
		return nil, err
	}
	return b.encode(terms)
}

// builder merges parts. Turns are first numbered as they come, then seated.
type builder struct {
	turns    []builtTurn
	runs     []Run
	names    []string
	speakers map[string]uint16
	seats    [][]uint32 // by source and its seat; noSeat for what is dropped

	directory, postings []byte
	buckets             []byte
	lists               map[uint64]builtList // by hash of the postings' bytes
	bucketBits          uint8
}

type builtTurn struct {
	source, seat int // where it comes from
	ordinal      uint32
	length       uint32
	thread       uint64
	place        int // of the thread, by its first turn
	time         int64
	who          uint16
	cues         lex.Cue
}

const noSeat = math.MaxUint32

func (b *builder) addTurns(s Source) error {
	c, err := s.Part.Columns()
	if err != nil {
		return err
	}
	n := len(b.seats)
	seats := make([]uint32, c.Turns())
	for _, run := range c.Runs {
		for seat := run.From; seat < run.To; seat++ {
			seats[seat] = noSeat
			ordinal := c.Ordinals[seat]
			if s.Drop != nil && s.Drop(ordinal) {
				continue
			}
			b.turns = append(b.turns, builtTurn{
				source: n, seat: int(seat), ordinal: s.Base + ordinal, length: c.Lengths[seat], thread: run.Thread,
				time: c.Times[seat], who: b.speaker(c.Speakers[c.Who[seat]].Name), cues: c.Cues[seat],
			})
		}
	}
	b.seats = append(b.seats, seats)
	if len(b.turns) > maxEncodedTurns {
		return fmt.Errorf("an index part holds at most %d turns", maxEncodedTurns)
	}
	return nil
}

func (b *builder) speaker(name string) uint16 {
	if n, ok := b.speakers[name]; ok {
		return n
	}
	if len(b.names) == maxSpeakers {
		return maxSpeakers - 1
	}
	n := uint16(len(b.names))
	b.speakers[name] = n
	b.names = append(b.names, name)
	return n
}

// sortSpeakers numbers speakers by name, so that the number does not depend on
// how turns were spread over sources.
func (b *builder) sortSpeakers() {
	sorted := slices.Sorted(slices.Values(b.names))
	numbers := make([]uint16, len(b.names))
	for i, name := range b.names {
		n, _ := slices.BinarySearch(sorted, name)
		numbers[i] = uint16(n)
	}
	for i := range b.turns {
		b.turns[i].who = numbers[b.turns[i].who]
	}
	b.names = sorted
}

// seat puts the turns of each thread together, threads in the order of their
// first turns.
func (b *builder) seat() {
	byOrdinal := func(x, y builtTurn) int { return int(int64(x.ordinal) - int64(y.ordinal)) }
	if !slices.IsSortedFunc(b.turns, byOrdinal) {
		slices.SortStableFunc(b.turns, byOrdinal)
	}
	places := make(map[uint64]int)
	for i := range b.turns {
		t := &b.turns[i]
		if i > 0 && t.thread == b.turns[i-1].thread {
			t.place = b.turns[i-1].place
			continue
		}
		place, ok := places[t.thread]
		if !ok {
			place = len(places)
			places[t.thread] = place
		}
		t.place = place
	}
	byPlace := func(x, y builtTurn) int { return x.place - y.place }
	if !slices.IsSortedFunc(b.turns, byPlace) {
		slices.SortStableFunc(b.turns, byPlace)
	}
	for seat := range b.turns {
		t := &b.turns[seat]
		b.seats[t.source][t.seat] = uint32(seat)
		b.runs = sit(b.runs, t.thread, uint32(seat))
	}
}

// encode lays the part out around its finished directory and postings.
func (b *builder) encode(terms int) ([]byte, error) {
	h := header{turns: uint32(len(b.turns)), runs: uint32(len(b.runs)), speakers: uint32(len(b.names)), terms: uint32(terms)}
	h.bucketBits = b.bucketBits
	runs := b.encodeRuns()
	h.runsLength, h.directoryLength, h.postingsLength = uint32(len(runs)), uint32(len(b.directory)), uint64(len(b.postings))
	if int64(len(b.directory)) > maxDirectory || int64(len(b.postings)) > math.MaxUint32 {
		return nil, fmt.Errorf("%d terms are too many for one index part", terms)
	}
	h.baseTime = math.MaxInt64
	for seat, t := range b.turns {
		if t.time != NoTime {
			h.baseTime = min(h.baseTime, t.time)
		}
		if t.ordinal != uint32(seat) {
			h.flags = flagOrdinals
		}
	}
	if h.baseTime == math.MaxInt64 {
		h.baseTime = 0
	}
	columns := b.encodeColumns(&h)
	if int64(len(columns)) > maxDirectory {
		return nil, fmt.Errorf("%d turns are too many for one index part", len(b.turns))
	}
	h.columnsLength = uint32(len(columns))
	out := make([]byte, 0, h.postingsAt()+int64(len(b.postings)))
	out = append(h.append(out), runs...)
	out = append(out, columns...)
	out = append(out, b.buckets...)
	out = append(out, b.directory...)
	return append(out, b.postings...), nil
}

func (b *builder) encodeRuns() (out []byte) {
	for _, run := range b.runs {
		out = binary.LittleEndian.AppendUint64(out, run.Thread)
		out = binary.LittleEndian.AppendUint32(out, run.To-run.From)
	}
	for _, name := range b.names {
		out = binary.AppendUvarint(out, uint64(len(name)))
		out = append(out, name...)
	}
	return out
}

func (b *builder) encodeColumns(h *header) []byte {
	out := make([]byte, 0, 6*len(b.turns))
	if h.flags&flagOrdinals != 0 {
		last := uint32(0)
		for i := range b.turns {
			out = binary.AppendVarint(out, int64(b.turns[i].ordinal)-int64(last))
			last = b.turns[i].ordinal
		}
	}
	for i := range b.turns {
		out = binary.AppendUvarint(out, uint64(min(b.turns[i].length, math.MaxUint16)))
	}
	last := h.baseTime
	for i := range b.turns {
		t := b.turns[i].time
		if t == NoTime {
			out = append(out, 0)
			continue
		}
		distance := t - last
		last = t
		out = binary.AppendUvarint(out, uint64(distance<<1^distance>>63)+1)
	}
	for i := range b.turns {
		out = binary.AppendUvarint(out, uint64(b.turns[i].who))
	}
	for i := range b.turns {
		out = append(out, byte(b.turns[i].cues))
	}
	return out
}
