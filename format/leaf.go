package format

import (
	"bytes"
	"encoding/binary"
)

// Sizes of the catalog's structures.
const (
	LeafSize         = 4096
	LeafEntries      = 36
	segmentEntrySize = 112
	rootHeaderSize   = 80
	leafEntrySize    = 32
	runEntrySize     = 64
	lostRangeSize    = 32
	vectorEntrySize  = 64
	rootEntriesMax   = 1 << 20 // of each sort: far beyond what a file of MaxFile bytes needs
)

var (
	leafMagic = []byte("ctxleaf\n")
	rootMagic = []byte("ctxroot\n")
)

// SegmentEntry is what the catalog knows of one segment.
type SegmentEntry struct {
	Number       uint64
	Offset       int64
	Length       int64 // bytes, footer included
	FirstID      uint64
	Turns        uint64
	Nonce        uint64
	FooterSum    uint64
	ContentBytes uint64
	SourceBytes  uint64
	Tokens       uint64
	MinTime      int64 // nanoseconds since 1970 UTC
	MaxTime      int64
	Keys         uint32
	MetaTurns    uint32
	RawBytes     uint64
}

// EndID is one more than the last TurnID of the segment.
func (e SegmentEntry) EndID() uint64 { return e.FirstID + e.Turns }

// Extent is the space of the segment, in whole extent units.
func (e SegmentEntry) Extent() int64 { return AlignUp(e.Length) }

func (e *SegmentEntry) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], e.Number)
	le.PutUint64(b[8:], uint64(e.Offset))
	le.PutUint64(b[16:], uint64(e.Length))
	le.PutUint64(b[24:], e.FirstID)
	le.PutUint64(b[32:], e.Turns)
	le.PutUint64(b[40:], e.Nonce)
	le.PutUint64(b[48:], e.FooterSum)
	le.PutUint64(b[56:], e.ContentBytes)
	le.PutUint64(b[64:], e.SourceBytes)
	le.PutUint64(b[72:], e.Tokens)
	le.PutUint64(b[80:], uint64(e.MinTime))
	le.PutUint64(b[88:], uint64(e.MaxTime))
	le.PutUint32(b[96:], e.Keys)
	le.PutUint32(b[100:], e.MetaTurns)
	le.PutUint64(b[104:], e.RawBytes)
}

func decodeSegmentEntry(b []byte) SegmentEntry {
	le := binary.LittleEndian
	return SegmentEntry{
		Number:       le.Uint64(b[0:]),
		Offset:       int64(le.Uint64(b[8:])),
		Length:       int64(le.Uint64(b[16:])),
		FirstID:      le.Uint64(b[24:]),
		Turns:        le.Uint64(b[32:]),
		Nonce:        le.Uint64(b[40:]),
		FooterSum:    le.Uint64(b[48:]),
		ContentBytes: le.Uint64(b[56:]),
		SourceBytes:  le.Uint64(b[64:]),
		Tokens:       le.Uint64(b[72:]),
		MinTime:      int64(le.Uint64(b[80:])),
		MaxTime:      int64(le.Uint64(b[88:])),
		Keys:         le.Uint32(b[96:]),
		MetaTurns:    le.Uint32(b[100:]),
		RawBytes:     le.Uint64(b[104:]),
	}
}

func (e *SegmentEntry) valid() bool {
	return validExtent(e.Offset, AlignUp(max(e.Length, 0)), MaxFile) && e.Length >= segmentMin && e.Length <= MaxSegment &&
		validIDs(e.FirstID, e.Turns) && uint64(e.Keys) <= e.Turns && uint64(e.MetaTurns) <= e.Turns && e.MinTime <= e.MaxTime
}

// validIDs: the ids of a segment exist, and a block can count its turns.
func validIDs(firstID, turns uint64) bool {
	return firstID >= 1 && turns >= 1 && firstID <= MaxTurns && turns <= MaxTurns+1-firstID && turns <= maxSegmentTurns
}

// EncodeLeaf returns the 4,096 bytes of a catalog leaf that will lie at offset,
// and its checksum.
//
// REQUIRES: 1 <= len(entries) <= LeafEntries.
func EncodeLeaf(uuid UUID, offset int64, entries []SegmentEntry) (b []byte, sum uint64) {
	b = make([]byte, LeafSize)
	copy(b[0:8], leafMagic)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(entries)))
	for i := range entries {
		entries[i].encode(b[32+i*segmentEntrySize:])
	}
	sum = bind(uuid, KindLeaf, 0, uint64(offset), b[:4088])
	binary.LittleEndian.PutUint64(b[4088:], sum)
	return b, sum
}

// DecodeLeaf reads a leaf that lies at offset and must have the checksum sum.
func DecodeLeaf(b []byte, uuid UUID, offset int64, sum uint64) ([]SegmentEntry, error) {
	if len(b) < LeafSize || !bytes.Equal(b[0:8], leafMagic) {
		return nil, Corruptf("catalog leaf", offset, "no leaf")
	}
	if got := binary.LittleEndian.Uint64(b[4088:]); got != sum || bind(uuid, KindLeaf, 0, uint64(offset), b[:4088]) != sum {
		return nil, Corruptf("catalog leaf", offset, "checksum differs from the root's")
	}
	count := binary.LittleEndian.Uint32(b[8:])
	if count < 1 || count > LeafEntries {
		return nil, Corruptf("catalog leaf", offset, "%d entries", count)
	}
	entries := make([]SegmentEntry, count)
	spans := []span{{offset, offset + LeafSize}}
	for i := range entries {
		entries[i] = decodeSegmentEntry(b[32+i*segmentEntrySize:])
		if !entries[i].valid() || i > 0 && entries[i].FirstID < entries[i-1].EndID() {
			return nil, Corruptf("catalog leaf", offset, "entry %d breaks the rules", i)
		}
		spans = append(spans, span{entries[i].Offset, entries[i].Offset + entries[i].Extent()})
	}
	if !disjoint(spans) {
		return nil, Corruptf("catalog leaf", offset, "two segments share space")
	}
	return entries, nil
}
