package format

import (
	"bytes"
	"encoding/binary"
)

// Sizes of a segment's structures.
const (
	SegmentHeaderSize = 128
	BlockHeaderSize   = 32
	BlockAlign        = 8
	SectionEntrySize  = 32
	FooterSize        = 64
	MaxSections       = 64

	// MaxBlockRaw bounds the plaintext of a block, in bytes.
	MaxBlockRaw = 1 << 20
	// MaxSegment bounds a segment: block entries count its offsets in units
	// of 8 bytes, in 32 bits.
	MaxSegment = 1 << 35

	segmentMin      = SegmentHeaderSize + FooterSize
	maxSegmentTurns = 1 << 32 // blocks and pieces count turns in 32 bits
	blockMagic      = 0xB10C
)

var (
	segmentMagic = []byte("ctxsegm\n")
	footerMagic  = []byte("ctxsegf\n")
)

// SegmentHeader begins a segment.
type SegmentHeader struct {
	UUID    UUID
	Number  uint64
	Nonce   uint64
	FirstID uint64
	Turns   uint64
	Length  int64 // of the segment in bytes
}

// Encode returns the header's bytes.
func (h *SegmentHeader) Encode() []byte {
	b := make([]byte, SegmentHeaderSize)
	le := binary.LittleEndian
	copy(b[0:8], segmentMagic)
	copy(b[8:24], h.UUID[:])
	le.PutUint64(b[24:], h.Number)
	le.PutUint64(b[32:], h.Nonce)
	le.PutUint64(b[40:], h.FirstID)
	le.PutUint64(b[48:], h.Turns)
	le.PutUint64(b[56:], uint64(h.Length))
	le.PutUint64(b[120:], bind(h.UUID, KindSegment, h.Nonce, h.Number, b[:120]))
	return b
}

// DecodeSegmentHeader reads the header of a segment that lies at the absolute
// offset at.
func DecodeSegmentHeader(b []byte, at int64) (SegmentHeader, error) {
	if len(b) < SegmentHeaderSize || !bytes.Equal(b[0:8], segmentMagic) {
		return SegmentHeader{}, Corruptf("segment header", at, "no segment")
	}
	le := binary.LittleEndian
	h := SegmentHeader{
		Number: le.Uint64(b[24:]), Nonce: le.Uint64(b[32:]),
		FirstID: le.Uint64(b[40:]), Turns: le.Uint64(b[48:]), Length: int64(le.Uint64(b[56:])),
	}
	copy(h.UUID[:], b[8:24])
	if bind(h.UUID, KindSegment, h.Nonce, h.Number, b[:120]) != le.Uint64(b[120:]) {
		return SegmentHeader{}, Corruptf("segment header", at, "checksum differs")
	}
	if h.Length < segmentMin || h.Length > MaxSegment || !validIDs(h.FirstID, h.Turns) {
		return SegmentHeader{}, Corruptf("segment header", at, "%d bytes, %d turns from %d", h.Length, h.Turns, h.FirstID)
	}
	return h, nil
}

// Stream is what a block belongs to.
type Stream uint8

const (
	StreamDictionary Stream = 1
	StreamContent    Stream = 2
	StreamSource     Stream = 3
)

// Codec says how a block's plaintext is stored.
type Codec uint8

const (
	CodecRaw      Codec = 0
	CodecZstd     Codec = 1
	CodecZstdDict Codec = 2 // zstd with the segment's dictionary
)

// DictionaryID is the id of each segment's zstd dictionary, which its frames carry.
const DictionaryID = 1

// BlockHeader precedes the stored bytes of a block.
type BlockHeader struct {
	Checksum uint64
	Stored   uint32 // bytes behind the header
	Raw      uint32 // bytes of plaintext
	Turn     uint32 // of the first piece, relative to the segment's first id
	Part     uint32 // of the first piece
	Ordinal  uint32 // within the stream
	Stream   Stream
	Codec    Codec
}

// BlockSize is the space of a block with n stored bytes.
func BlockSize(n int) int64 {
	return (BlockHeaderSize + int64(n) + BlockAlign - 1) &^ (BlockAlign - 1)
}

// PutBlockHeader writes the header over b[:BlockHeaderSize]; the stored bytes
// are already behind it. offset is that of the block in its segment.
func PutBlockHeader(b []byte, uuid UUID, nonce uint64, offset int64, h *BlockHeader) {
	le := binary.LittleEndian
	le.PutUint32(b[8:], h.Stored)
	le.PutUint32(b[12:], h.Raw)
	le.PutUint32(b[16:], h.Turn)
	le.PutUint32(b[20:], h.Part)
	le.PutUint32(b[24:], h.Ordinal)
	b[28] = byte(h.Stream)
	b[29] = byte(h.Codec)
	le.PutUint16(b[30:], blockMagic)
	h.Checksum = bind(uuid, KindBlock, nonce, uint64(offset), b[8:BlockHeaderSize+int(h.Stored)])
	le.PutUint64(b[0:], h.Checksum)
}

// DecodeBlock verifies the block that b begins with and returns its header.
// b must hold all its stored bytes. offset is that of the block in its segment,
// base that of the segment in the file.
func DecodeBlock(b []byte, uuid UUID, nonce uint64, offset, base int64) (BlockHeader, error) {
	h, ok := PeekBlock(b)
	if !ok || int64(len(b)) < BlockHeaderSize+int64(h.Stored) {
		return BlockHeader{}, Corruptf("block", base+offset, "no block header")
	}
	if bind(uuid, KindBlock, nonce, uint64(offset), b[8:BlockHeaderSize+int(h.Stored)]) != h.Checksum {
		return BlockHeader{}, Corruptf("block", base+offset, "checksum differs")
	}
	return h, nil
}

// PeekBlock reads a block header without verifying its checksum; ok is false
// where b can't begin with one.
func PeekBlock(b []byte) (h BlockHeader, ok bool) {
	if len(b) < BlockHeaderSize || binary.LittleEndian.Uint16(b[30:]) != blockMagic {
		return BlockHeader{}, false
	}
	le := binary.LittleEndian
	h = BlockHeader{
		Checksum: le.Uint64(b[0:]), Stored: le.Uint32(b[8:]), Raw: le.Uint32(b[12:]),
		Turn: le.Uint32(b[16:]), Part: le.Uint32(b[20:]), Ordinal: le.Uint32(b[24:]),
		Stream: Stream(b[28]), Codec: Codec(b[29]),
	}
	switch {
	case h.Raw > MaxBlockRaw, h.Stored > MaxBlockRaw:
		return BlockHeader{}, false
	case h.Codec > CodecZstdDict, h.Codec == CodecRaw && h.Stored != h.Raw:
		return BlockHeader{}, false
	case h.Stream < StreamDictionary || h.Stream > StreamSource, h.Stream == StreamDictionary && h.Codec == CodecZstdDict:
		return BlockHeader{}, false
	}
	return h, true
}

// SectionType says what a section holds. Readers skip types they don't know.
type SectionType uint32

const (
	SectionContentBlocks SectionType = 1
	SectionSourceBlocks  SectionType = 2
	SectionKeys          SectionType = 3
	SectionDictionary    SectionType = 4
	SectionHot           SectionType = 5
	SectionTerms         SectionType = 6
	SectionVectors       SectionType = 7
)

// Section is one entry of the section table.
type Section struct {
	Type    SectionType
	Offset  int64 // from the start of the segment
	Length  int64
	Entries uint64
}

// EncodeSections returns the section table.
func EncodeSections(sections []Section) []byte {
	b := make([]byte, len(sections)*SectionEntrySize)
	le := binary.LittleEndian
	for i, s := range sections {
		e := b[i*SectionEntrySize:]
		le.PutUint32(e[0:], uint32(s.Type))
		le.PutUint64(e[8:], uint64(s.Offset))
		le.PutUint64(e[16:], uint64(s.Length))
		le.PutUint64(e[24:], s.Entries)
	}
	return b
}

// DecodeSections reads the section table at the absolute offset at and holds
// it against the footer, which must have been decoded with the same header.
func DecodeSections(b []byte, h *SegmentHeader, f *Footer, at int64) ([]Section, error) {
	if bind(h.UUID, KindSectionTable, h.Nonce, h.Number, b) != f.TableSum {
		return nil, Corruptf("section table", at, "checksum differs from the footer's")
	}
	sections := make([]Section, len(b)/SectionEntrySize)
	le := binary.LittleEndian
	for i := range sections {
		e := b[i*SectionEntrySize:]
		s := Section{Type: SectionType(le.Uint32(e[0:])), Offset: int64(le.Uint64(e[8:])), Length: int64(le.Uint64(e[16:])), Entries: le.Uint64(e[24:])}
		if !s.valid(f.TableOffset) || i > 0 && s.Type <= sections[i-1].Type {
			return nil, Corruptf("section table", at, "entry %d breaks the rules", i)
		}
		sections[i] = s
	}
	return sections, nil
}

// valid: behind the header, before the section table; where it consists of
// index pages, as many of them as its entries fill; a dictionary is one block.
func (s *Section) valid(table int64) bool {
	if s.Offset < SegmentHeaderSize || s.Length < 0 || s.Offset > table || s.Length > table-s.Offset {
		return false
	}
	switch s.Type {
	case SectionContentBlocks, SectionSourceBlocks, SectionKeys:
		return s.Offset%BlockAlign == 0 && s.Entries <= MaxSegment && int64(s.Entries+IndexPageEntries-1)/IndexPageEntries*IndexPageSize == s.Length
	case SectionDictionary:
		return s.Offset%BlockAlign == 0 && s.Length >= BlockHeaderSize && s.Entries == 1
	}
	return true
}

// Footer ends a segment.
type Footer struct {
	Number      uint64
	TableOffset int64 // of the section table, from the start of the segment
	Sections    uint32
	TableSum    uint64
	Checksum    uint64
}

// EncodeFooter returns the footer for a section table; f.TableSum and f.Checksum are set.
func EncodeFooter(h *SegmentHeader, table []byte, f *Footer) []byte {
	b := make([]byte, FooterSize)
	le := binary.LittleEndian
	f.TableSum = bind(h.UUID, KindSectionTable, h.Nonce, h.Number, table)
	copy(b[0:8], footerMagic)
	le.PutUint64(b[8:], f.Number)
	le.PutUint64(b[16:], uint64(f.TableOffset))
	le.PutUint32(b[24:], f.Sections)
	le.PutUint64(b[32:], f.TableSum)
	f.Checksum = bind(h.UUID, KindFooter, h.Nonce, h.Number, b[:56])
	le.PutUint64(b[56:], f.Checksum)
	return b
}

// DecodeFooter reads the footer of a segment; at is its absolute offset.
func DecodeFooter(b []byte, h *SegmentHeader, at int64) (Footer, error) {
	if len(b) < FooterSize || !bytes.Equal(b[0:8], footerMagic) {
		return Footer{}, Corruptf("segment footer", at, "no footer")
	}
	le := binary.LittleEndian
	f := Footer{
		Number: le.Uint64(b[8:]), TableOffset: int64(le.Uint64(b[16:])), Sections: le.Uint32(b[24:]),
		TableSum: le.Uint64(b[32:]), Checksum: le.Uint64(b[56:]),
	}
	if bind(h.UUID, KindFooter, h.Nonce, h.Number, b[:56]) != f.Checksum {
		return Footer{}, Corruptf("segment footer", at, "checksum differs")
	}
	table := int64(f.Sections) * SectionEntrySize
	if f.Number != h.Number || f.Sections > MaxSections || f.TableOffset < SegmentHeaderSize || f.TableOffset != h.Length-FooterSize-table {
		return Footer{}, Corruptf("segment footer", at, "%d sections at %d", f.Sections, f.TableOffset)
	}
	return f, nil
}
