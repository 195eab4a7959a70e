package format

import (
	"encoding/binary"
	"math/bits"
)

// A source mostly repeats its turn's content as a JSON string. It is stored as
// copies from a reference made of the content, and literals.

const (
	sourceSeed     = 16      // bytes that must agree before a copy is looked at
	sourceMinCopy  = 24      // shorter copies cost more than they save
	sourceMaxTable = 1 << 20 // entries of the match finder's table
)

// EncodeSource appends the encoded form of source to dst, against the content
// of its turn.
func EncodeSource(dst, source, content []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(source)))
	reference := sourceReference(content)
	find := newMatchFinder(reference)
	literal := 0
	for p := 0; p+sourceSeed <= len(source); {
		from, ok := find.seed(source[p:])
		if !ok {
			p++
			continue
		}
		start, from, n := extend(source, reference, literal, p, from)
		if n < sourceMinCopy {
			p++
			continue
		}
		dst = appendLiteral(dst, source[literal:start])
		dst = binary.AppendUvarint(dst, uint64(n)<<1|1)
		dst = binary.AppendUvarint(dst, uint64(from))
		p = start + n
		literal = p
	}
	return appendLiteral(dst, source[literal:])
}

func appendLiteral(dst, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))<<1), b...)
}

// extend widens a match of source[p:] and reference[from:] to both sides, to
// the left no further than limit.
func extend(source, reference []byte, limit, p, from int) (start, at, n int) {
	start, at = p, from
	for start > limit && at > 0 && source[start-1] == reference[at-1] {
		start--
		at--
	}
	a, b := source[start:], reference[at:]
	b = b[:min(len(a), len(b))]
	for n+8 <= len(b) {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return start, at, n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return start, at, n
}

// DecodeSource appends a source of sourceLen bytes to dst, from its encoded
// form and the content of its turn. at is the absolute offset for errors.
func DecodeSource(dst, encoded, content []byte, sourceLen int, at int64) ([]byte, error) {
	d := decoder{b: encoded}
	if d.bounded(MaxSource) != uint64(sourceLen) || d.bad {
		return nil, Corruptf("source", at, "length differs from the turn's")
	}
	base := len(dst)
	reference := sourceReference(content)
	for d.p < len(encoded) && !d.bad {
		n := d.uvarint()
		var run []byte
		if n&1 == 0 {
			run = d.bytes(n >> 1)
		} else {
			from := d.bounded(uint64(len(reference)))
			if n>>1 > uint64(len(reference))-from {
				d.bad = true
				break
			}
			run = reference[from : from+n>>1]
		}
		if len(dst)-base+len(run) > sourceLen {
			d.bad = true
			break
		}
		dst = append(dst, run...)
	}
	if d.bad || len(dst)-base != sourceLen {
		return nil, Corruptf("source", at, "instructions break the rules")
	}
	return dst, nil
}

// sourceReference is R of SPEC.md section 8: the content escaped, then as it is.
func sourceReference(content []byte) []byte {
	r := make([]byte, 0, 2*len(content)+len(content)/8+16)
	r = appendEscaped(r, content)
	return append(r, content...)
}

func appendEscaped(dst, content []byte) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i, c := range content {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, content[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, content[start:]...)
}

// matchFinder finds places in a reference by the 16 bytes that begin there. It
// knows every stride-th place; a match of twice the seed is never missed for
// strides up to the seed.
type matchFinder struct {
	reference []byte
	table     []uint32 // 1 + place
	shift     uint
}

func newMatchFinder(reference []byte) *matchFinder {
	stride := 8
	for len(reference)/stride > sourceMaxTable {
		stride *= 2
	}
	logSize := max(bits.Len(uint(len(reference)/stride)), 4) + 1
	m := &matchFinder{reference: reference, table: make([]uint32, 1<<logSize), shift: uint(64 - logSize)}
	for i := 0; i+sourceSeed <= len(reference); i += stride {
		slot := &m.table[m.hash(reference[i:])]
		if *slot == 0 { // the first place wins: the escaped form comes first
			*slot = uint32(i) + 1
		}
	}
	return m
}

func (m *matchFinder) hash(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b)
	y := binary.LittleEndian.Uint64(b[8:])
	return (x*0x9E3779B185EBCA87 ^ y*0xC2B2AE3D27D4EB4F) * 0x9E3779B185EBCA87 >> m.shift
}

// seed returns a place in the reference that agrees with b in its first
// sourceSeed bytes.
//
// REQUIRES: len(b) >= sourceSeed.
func (m *matchFinder) seed(b []byte) (from int, ok bool) {
	slot := m.table[m.hash(b)]
	if slot == 0 {
		return 0, false
	}
	from = int(slot - 1)
	r := m.reference[from:]
	return from, binary.LittleEndian.Uint64(r) == binary.LittleEndian.Uint64(b) && binary.LittleEndian.Uint64(r[8:]) == binary.LittleEndian.Uint64(b[8:])
}
