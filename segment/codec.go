package segment

import (
	"encoding/binary"
	"slices"
	"sync"

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

// encoder compresses blocks and proves that they decode.
type encoder struct {
	dictionary []byte
	dict       *zstd.Encoder // nil without a dictionary
	decoder    *zstd.Decoder // of the dictionary; made when it is needed
	out, check []byte
}

func encoderOptions(level zstd.EncoderLevel) []zstd.EOption {
	return []zstd.EOption{
		zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1),
		zstd.WithSingleSegment(true), zstd.WithWindowSize(format.MaxBlockRaw),
	}
}

// plainEncoders compress what has no dictionary: it is large and seldom read,
// sources, and the dictionary itself, so they work at the best level. Their
// tables take tens of MB, which take longer to clear than most blocks to
// compress; so they are used again until the collector takes them.
var plainEncoders = sync.Pool{New: func() any {
	z, err := zstd.NewWriter(nil, encoderOptions(zstd.SpeedBestCompression)...)
	if err != nil {
		panic("segment: encoder options: " + err.Error()) // they are constants
	}
	return z
}}

func newEncoder(level zstd.EncoderLevel, dictionary []byte) (*encoder, error) {
	e := &encoder{dictionary: dictionary}
	if dictionary != nil {
		var err error
		if e.dict, err = zstd.NewWriter(nil, append(encoderOptions(level), zstd.WithEncoderDictRaw(format.DictionaryID, dictionary))...); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// encode returns how plaintext is stored best. The bytes are valid until the
// next call, or plaintext itself.
func (e *encoder) encode(plaintext []byte, useDict bool) (stored []byte, codec format.Codec) {
	if useDict && e.dict != nil {
		codec, e.out = format.CodecZstdDict, e.dict.EncodeAll(plaintext, e.out[:0])
	} else {
		z := plainEncoders.Get().(*zstd.Encoder)
		codec, e.out = format.CodecZstd, z.EncodeAll(plaintext, e.out[:0])
		plainEncoders.Put(z)
	}
	if len(e.out) >= len(plaintext) {
		return plaintext, format.CodecRaw
	}
	return e.out, codec
}

// verified reports whether stored decodes to plaintext, by the reader's own path.
func (e *encoder) verified(plaintext, stored []byte, codec format.Codec) bool {
	d := plainDecoder()
	if codec == format.CodecZstdDict {
		if e.decoder == nil {
			e.decoder = newDecoder(e.dictionary)
		}
		d = e.decoder
	}
	out, ok := decodeStored(e.check, stored, codec, uint32(len(plaintext)), d)
	if ok && codec != format.CodecRaw {
		e.check = out
	}
	return ok && string(out) == string(plaintext)
}
