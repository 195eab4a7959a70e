package rank

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ctxdb/engine/lex"
)

// An encoded part:
//
//	header | runs | speakers | columns | buckets | directory | postings
//
// Header, little-endian:
//
//	Offset | Size | Field
//	0      | 8    | magic "ctxterm\n"
//	8      | 4    | version, 3
//	12     | 4    | turns
//	16     | 4    | runs
//	20     | 4    | speakers
//	24     | 4    | terms
//	28     | 1    | bucketBits: a term's highest bits choose its bucket
//	29     | 1    | flags: 1 ordinals are stored; otherwise they are the seats
//	30     | 2    | reserved, zero
//	32     | 8    | baseTime, Unix seconds
//	40     | 4    | runsLength, of runs and speakers in bytes
//	44     | 4    | directoryLength
//	48     | 8    | postingsLength
//	56     | 4    | columnsLength
//	60     | 4    | reserved, zero
//
// A run is 8 bytes of thread hash and 4 of seats. A speaker is a uvarint length
// and its name. Columns, one after another, a value for each seat: ordinals (only
// with flag 1), lengths, times, who, cues. Lengths and who are uvarints, cues a
// byte. Ordinals and times are uvarints of the zigzag distance from the value
// before, times one more: 0 is none. The first ordinal is from 0, the first time
// from baseTime. Ordinals ascend within a run. A bucket is 4 bytes of offset into
// the directory and 4 into the postings; one more ends the last.
//
// A directory entry is the rest of a term, big-endian in as few bytes as hold
// it, then a uvarint count of turns. With a count of 1 the posting follows. With
// a count of 0 the term has the very postings of a lower one, whose 4 bytes,
// big-endian, follow: most beginnings of words are of one word only. Otherwise a
// uvarint length follows of its postings, which lie in the order of the entries.
// A posting is uvarint(distance from the last seat << 2 | level); the first one's
// distance is its seat.
const (
	partMagic   = "ctxterm\n"
	partVersion = 3
	headerSize  = 64
	runSize     = 12
	bucketSize  = 8

	flagOrdinals = 1

	maxBucketBits   = 24
	termsPerBucket  = 16
	maxDirectory    = 1 << 31
	maxEncodedTurns = 1 << 28
)

var (
	// ErrCorrupt says that bytes are no encoded part. Messages have offsets from
	// the start of the part.
	ErrCorrupt = errors.New("corrupt index part")
	// ErrVersion says that another program encoded a part, in another way.
	ErrVersion = errors.New("index part of another version")
)

func corrupt(offset int64, format string, args ...any) error {
	return fmt.Errorf("%w at byte %d: %s", ErrCorrupt, offset, fmt.Sprintf(format, args...))
}

// header is the first 64 bytes.
type header struct {
	turns, runs, speakers, terms uint32
	bucketBits, flags            uint8
	baseTime                     int64
	runsLength, directoryLength  uint32
	postingsLength               uint64
	columnsLength                uint32
}

func (h *header) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, partMagic...)
	for _, x := range []uint32{partVersion, h.turns, h.runs, h.speakers, h.terms} {
		b = le.AppendUint32(b, x)
	}
	b = append(b, h.bucketBits, h.flags, 0, 0)
	b = le.AppendUint64(b, uint64(h.baseTime))
	b = le.AppendUint32(b, h.runsLength)
	b = le.AppendUint32(b, h.directoryLength)
	b = le.AppendUint64(b, h.postingsLength)
	b = le.AppendUint32(b, h.columnsLength)
	return le.AppendUint32(b, 0)
}

// parseHeader reads a header of a part of size bytes and checks that its
// lengths add up.
func parseHeader(b []byte, size int64) (h header, err error) {
	le := binary.LittleEndian
	if string(b[:8]) != partMagic {
		return h, corrupt(0, "no magic")
	}
	if v := le.Uint32(b[8:]); v != partVersion {
		return h, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, v, partVersion)
	}
	h.turns, h.runs, h.speakers, h.terms = le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint32(b[24:])
	h.bucketBits, h.flags = b[28], b[29]
	h.baseTime = int64(le.Uint64(b[32:]))
	h.runsLength, h.directoryLength, h.postingsLength = le.Uint32(b[40:]), le.Uint32(b[44:]), le.Uint64(b[48:])
	h.columnsLength = le.Uint32(b[56:])
	switch {
	case h.turns > maxEncodedTurns || h.runs > h.turns || h.speakers > maxSpeakers || h.turns > 0 && h.speakers == 0:
		return h, corrupt(12, "%d turns, %d runs, %d speakers", h.turns, h.runs, h.speakers)
	case h.bucketBits > maxBucketBits || h.flags&^flagOrdinals != 0 || b[30]|b[31] != 0 || le.Uint32(b[60:]) != 0:
		return h, corrupt(28, "flags")
	case int64(h.runs)*runSize > int64(h.runsLength) || int64(h.turns)*leastColumnBytes > int64(h.columnsLength) || h.directoryLength > maxDirectory || h.postingsLength > uint64(size):
		return h, corrupt(40, "lengths")
	case h.postingsAt()+int64(h.postingsLength) != size:
		return h, corrupt(40, "lengths end at %d, not at %d", h.postingsAt()+int64(h.postingsLength), size)
	}
	return h, nil
}

// leastColumnBytes is what the columns take for each turn at least.
const leastColumnBytes = 4

func (h *header) columnsAt() int64   { return headerSize + int64(h.runsLength) }
func (h *header) bucketsAt() int64   { return h.columnsAt() + int64(h.columnsLength) }
func (h *header) directoryAt() int64 { return h.bucketsAt() + (1<<h.bucketBits+1)*bucketSize }
func (h *header) postingsAt() int64  { return h.directoryAt() + int64(h.directoryLength) }

// restBits and restBytes are of a term behind its bucket.
func (h *header) restBits() int  { return lex.TermBits - int(h.bucketBits) }
func (h *header) restBytes() int { return (h.restBits() + 7) / 8 }

func (h *header) bucketOf(t lex.Term) int { return int(t >> h.restBits()) }
func (h *header) restOf(t lex.Term) uint64 {
	return uint64(t) & (1<<h.restBits() - 1)
}

// bucketBitsFor keeps buckets at about 16 terms.
func bucketBitsFor(terms int) uint8 {
	bits := uint8(0)
	for bits < maxBucketBits && terms>>bits > termsPerBucket {
		bits++
	}
	return bits
}
