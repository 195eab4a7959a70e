package zdict

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/huff0"
)

// kinds of a literals section: RFC 8878, section 3.1.1.3.1.1.
const (
	literalsRaw    = 0
	literalsRLE    = 1
	literalsOwn    = 2 // with the description of a table
	literalsShared = 3 // with the dictionary's table
)

const (
	fewLiterals  = 16   // below, no table is worth it
	singleStream = 1024 // below, one stream of bits instead of four
)

// appendLiterals writes the literals section of a block.
func (e *Encoder) appendLiterals(dst, literals []byte) []byte {
	if len(literals) < fewLiterals {
		return appendRaw(dst, literals)
	}
	kind := uint64(literalsOwn)
	e.scratch.Reuse = huff0.ReusePolicyNone
	if e.shares(literals) {
		kind = literalsShared
		e.scratch.TransferCTable(e.shared)
		e.scratch.Reuse = huff0.ReusePolicyMust
	}
	compress, streams := huff0.Compress4X, uint64(1)
	if len(literals) < singleStream {
		compress, streams = huff0.Compress1X, 0
	}
	out, _, err := compress(literals, &e.scratch)
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(appendLength(dst, literalsRLE, len(literals)), literals[0])
	case err != nil:
		return appendRaw(dst, literals)
	}
	return append(appendLengths(dst, kind, streams, uint64(len(literals)), uint64(len(out))), out...)
}

// shares reports whether the dictionary's table takes no more than one made for
// the literals would, with its description: about half a byte for each symbol.
func (e *Encoder) shares(literals []byte) bool {
	var counts [256]uint32
	for _, b := range literals {
		counts[b]++
	}
	shared := e.shared.EstimateSize(&counts)
	if shared < 0 {
		return false
	}
	bits, symbols := int64(0), 0
	all := log2(uint32(len(literals)))
	for _, n := range counts {
		if n > 0 {
			bits += int64(n) * int64(all-log2(n))
			symbols++
		}
	}
	return shared <= int(bits>>8/8)+symbols/2
}

func appendRaw(dst, literals []byte) []byte {
	return append(appendLength(dst, literalsRaw, len(literals)), literals...)
}

// appendLength writes the header of literals that are not compressed.
func appendLength(dst []byte, kind, n int) []byte {
	switch {
	case n < 1<<5:
		return append(dst, byte(kind|n<<3))
	case n < 1<<12:
		return binary.LittleEndian.AppendUint16(dst, uint16(kind|1<<2|n<<4))
	}
	return append24(dst, uint64(kind|3<<2|n<<4))
}

// appendLengths writes the header of compressed literals: how many, and in how
// many bytes.
func appendLengths(dst []byte, kind, streams, n, size uint64) []byte {
	switch {
	case n < 1<<10:
		return append24(dst, kind|streams<<2|n<<4|size<<14)
	case n < 1<<14:
		return binary.LittleEndian.AppendUint32(dst, uint32(kind|2<<2|n<<4|size<<18))
	}
	v := kind | 3<<2 | n<<4 | size<<22
	return append(binary.LittleEndian.AppendUint32(dst, uint32(v)), byte(v>>32))
}

func append24(dst []byte, v uint64) []byte { return append(dst, byte(v), byte(v>>8), byte(v>>16)) }
