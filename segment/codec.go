package segment

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

// rawSlack is room behind the plaintext: the decoder copies in wide steps when
// it may write a little too far.
const rawSlack = 32

// decodeStored appends the plaintext of a block to dst[:0]. For codec 0 it is
// stored itself. ok is false where the frame is not exactly one of raw bytes.
func decodeStored(dst, stored []byte, codec format.Codec, raw uint32, d *zstd.Decoder) (plaintext []byte, ok bool) {
	if codec == format.CodecRaw {
		return stored, uint32(len(stored)) == raw
	}
	dictionary := uint32(0)
	if codec == format.CodecZstdDict {
		dictionary = format.DictionaryID
	}
	if raw > format.MaxBlockRaw || !frameHolds(stored, raw, dictionary) {
		return dst, false
	}
	dst = slices.Grow(dst[:0], int(raw)+rawSlack)
	out, err := d.DecodeAll(stored, dst)
	return out, err == nil && len(out) == int(raw)
}

// frameHolds reports whether b is one zstd frame and nothing else, without
// checksum, of the dictionary given (0: none), that declares raw bytes. A decoder
// by itself would also take several frames, and skip some: RFC 8878, section 3.1.
func frameHolds(b []byte, raw, dictionary uint32) bool {
	if len(b) < 6 || binary.LittleEndian.Uint32(b) != 0xFD2FB528 {
		return false
	}
	descriptor := b[4]
	if descriptor&0x0C != 0 { // reserved, checksum
		return false
	}
	single := descriptor&0x20 != 0
	p := 5
	if !single {
		p++
	}
	id, p, ok := frameField(b, p, [4]int{0, 1, 2, 4}[descriptor&3])
	if !ok || id != uint64(dictionary) {
		return false
	}
	sizeLen := [4]int{0, 2, 4, 8}[descriptor>>6]
	if sizeLen == 0 && single {
		sizeLen = 1
	}
	size, p, ok := frameField(b, p, sizeLen)
	if sizeLen == 2 {
		size += 256
	}
	return ok && sizeLen > 0 && size == uint64(raw) && frameEnd(b, p) == len(b)
}

// frameField reads a little-endian field of n bytes.
func frameField(b []byte, p, n int) (v uint64, next int, ok bool) {
	if n > len(b)-p {
		return 0, p, false
	}
	for i := range n {
		v |= uint64(b[p+i]) << (8 * i)
	}
	return v, p + n, true
}

// frameEnd follows the zstd blocks from p on and returns where the last one ends,
// or -1.
func frameEnd(b []byte, p int) int {
	for p+3 <= len(b) {
		header := uint32(b[p]) | uint32(b[p+1])<<8 | uint32(b[p+2])<<16
		p += 3
		if header>>1&3 == 1 { // one byte, repeated
			p++
		} else {
			p += int(header >> 3)
		}
		if p > len(b) {
			return -1
		}
		if header&1 != 0 {
			return p
		}
	}
	return -1
}
