package zdict

import (
	"encoding/binary"

	"github.com/klauspost/compress/huff0"
)

// MaxBlock is the most bytes that can be compressed at a time.
const MaxBlock = 128 << 10

// Encoder compresses blocks with one dictionary.
type Encoder struct {
	id         uint8
	dictionary []byte

	matcher *matcher
	tables  tables
	shared  *huff0.Scratch // has the dictionary's table of literals

	scratch huff0.Scratch
	codes   []coded
}

// Dictionary is what decoders need: content and tables as of RFC 8878, section 5.
// The bytes are the Encoder's and don't change.
func (e *Encoder) Dictionary() []byte { return e.dictionary }

// Clone returns an encoder of the same dictionary, which it shares, for another
// goroutine.
func (e *Encoder) Clone() *Encoder {
	return &Encoder{id: e.id, dictionary: e.dictionary, matcher: e.matcher.clone(), tables: e.tables, shared: e.shared}
}

const frameMagic = 0xFD2FB528

// EncodeAll appends to dst one frame that holds src, at most MaxBlock bytes,
// without a checksum. The same Encoder and src give the same bytes.
func (e *Encoder) EncodeAll(src, dst []byte) []byte {
	if len(src) > MaxBlock {
		panic("zdict: a block of more than 128 KiB")
	}
	dst = e.appendHeader(dst, len(src))
	start := len(dst)
	dst = append24(dst, 0)
	e.matcher.parse(src)
	dst = e.appendLiterals(dst, e.matcher.literals)
	dst = e.appendSequences(dst, e.matcher.sequences)
	kind, size := blockCompressed, len(dst)-start-3
	if size >= len(src) {
		dst = append(dst[:start+3], src...)
		kind, size = blockRaw, len(src)
	}
	append24(dst[:start], uint64(lastBlock|kind<<1|size<<3))
	return dst
}

const (
	lastBlock       = 1
	blockRaw        = 0
	blockCompressed = 2
)

// appendHeader writes the header of a frame of a single segment, whose size it
// tells: RFC 8878, section 3.1.1.1.
func (e *Encoder) appendHeader(dst []byte, n int) []byte {
	const single, idByte = 1 << 5, 1
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	switch {
	case n < 256:
		return append(dst, single|idByte, e.id, byte(n))
	case n < 1<<16+256:
		return binary.LittleEndian.AppendUint16(append(dst, 1<<6|single|idByte, e.id), uint16(n-256))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 2<<6|single|idByte, e.id), uint32(n))
}
