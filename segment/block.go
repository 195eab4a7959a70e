package segment

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

// scratch is what one read needs beside its result. It is pooled.
type scratch struct {
	cursor cursor
	block  []byte // header and stored bytes of a block
	raw    []byte // its plaintext
	meta   []byte // of a turn that goes on in further blocks

	at    int64    // absolute offset of the block that was loaded last
	first uint32   // turn of its first piece
	rest  []byte   // plaintext behind the piece that was taken last
	last  blockKey // the next piece is at or behind it; the first one exactly there
	begun bool     // the first piece was taken
}

// keepScratch bounds what the pool keeps of a large block.
const keepScratch = 256 << 10

var scratches = sync.Pool{New: func() any {
	return &scratch{cursor: cursor{page: make([]byte, format.IndexPageSize)}}
}}

func getScratch() *scratch { return scratches.Get().(*scratch) }

func putScratch(sc *scratch) {
	sc.cursor.set, sc.rest = nil, nil
	if cap(sc.block)+cap(sc.raw)+cap(sc.meta) > keepScratch {
		sc.block, sc.raw, sc.meta = nil, nil, nil
	}
	scratches.Put(sc)
}

// loadBlock reads the block that the cursor stands on, verifies it, and decodes
// it into the scratch.
func (s *Segment) loadBlock(l *layout, sc *scratch, stream format.Stream) error {
	e := sc.cursor.at
	size := format.BlockHeaderSize + int64(e.Stored)
	if e.Offset < format.SegmentHeaderSize || e.Stored > format.MaxBlockRaw || e.Offset > l.blocksEnd-size {
		return format.Corruptf("index page", sc.cursor.set.at(sc.cursor.i/format.IndexPageEntries), "block of %d bytes at %d", e.Stored, e.Offset)
	}
	sc.block = slices.Grow(sc.block[:0], int(size))[:size]
	if err := s.read(sc.block, e.Offset); err != nil {
		return err
	}
	h, err := format.DecodeBlock(sc.block, s.uuid, s.entry.Nonce, e.Offset, s.offset)
	if err != nil {
		return err
	}
	if h.Stream != stream || h.Stored != e.Stored || h.Turn != e.Turn || h.Part != e.Part || int64(h.Ordinal) != int64(sc.cursor.i) {
		return format.Corruptf("block", s.offset+e.Offset, "header differs from the index")
	}
	raw, err := s.plaintext(l, sc, &h, e.Offset)
	if err != nil {
		return err
	}
	sc.enter(&h, raw, s.offset+e.Offset)
	return nil
}

// enter begins a block at an absolute offset.
func (sc *scratch) enter(h *format.BlockHeader, raw []byte, at int64) {
	sc.at, sc.first, sc.rest = at, h.Turn, raw
	sc.last, sc.begun = makeBlockKey(h.Turn, h.Part), false
}

// plaintext decodes the verified block in sc.block, which lies at offset.
func (s *Segment) plaintext(l *layout, sc *scratch, h *format.BlockHeader, offset int64) ([]byte, error) {
	var d *zstd.Decoder
	switch h.Codec {
	case format.CodecZstd:
		d = plainDecoder()
	case format.CodecZstdDict:
		dict, err := s.dictDecoder(l)
		if err != nil {
			return nil, err
		}
		d = dict
	}
	out, ok := decodeStored(sc.raw, sc.block[format.BlockHeaderSize:], h.Codec, h.Raw, d)
	if !ok {
		return nil, format.Corruptf("block", s.offset+offset, "%d stored bytes do not decode to %d", h.Stored, h.Raw)
	}
	if h.Codec != format.CodecRaw {
		sc.raw = out
	}
	return out, nil
}

// dictDecoder returns the decoder of the segment's dictionary, made at first use.
func (s *Segment) dictDecoder(l *layout) (*zstd.Decoder, error) {
	if d := s.decoder.Load(); d != nil {
		if !d.used.Load() {
			d.used.Store(true)
		}
		return d.zstd, nil
	}
	d, size, err := s.readDictionary(l)
	if err != nil {
		return nil, err
	}
	return s.decoders.add(&s.decoder, d, size, s.copyIndex(&l.content)).zstd, nil
}

// mostIndexPages are copied of a segment: those of 16,000 blocks, sixteen times
// what sealing makes. How many there are is the file's word.
const mostIndexPages = 64

// copyIndex returns the index pages of content blocks as they are; nil where they
// are too many, or can't be read now.
func (s *Segment) copyIndex(set *pageSet) []byte {
	if set.pages > mostIndexPages {
		return nil
	}
	index := make([]byte, set.pages*format.IndexPageSize)
	if s.read(index, set.offset) != nil {
		return nil
	}
	return index
}

// index returns the copy of a section's pages that is kept beside the decoder, so
// that a fault reads its block and nothing else; nil where there is none.
func (s *Segment) index(l *layout, set *pageSet) []byte {
	if d := s.decoder.Load(); d != nil && set == &l.content {
		return d.index
	}
	return nil
}

// readDictionary makes the decoder of the segment's dictionary, of size bytes.
func (s *Segment) readDictionary(l *layout) (d *zstd.Decoder, size int, err error) {
	section := l.dictionary
	limit := int64(format.BlockHeaderSize + format.MaxBlockRaw + format.BlockAlign)
	if section.Length < format.BlockHeaderSize || section.Length > limit || section.Offset > l.blocksEnd-section.Length {
		return nil, 0, format.Corruptf("section table", s.offset+l.footer.TableOffset, "dictionary of %d bytes at %d", section.Length, section.Offset)
	}
	b := make([]byte, section.Length)
	if err := s.read(b, section.Offset); err != nil {
		return nil, 0, err
	}
	return s.decodeDictionary(b, section.Offset)
}

// decodeDictionary verifies the dictionary block that b begins with, and makes its
// decoder.
func (s *Segment) decodeDictionary(b []byte, offset int64) (d *zstd.Decoder, size int, err error) {
	h, err := format.DecodeBlock(b, s.uuid, s.entry.Nonce, offset, s.offset)
	if err != nil {
		return nil, 0, err
	}
	if h.Stream != format.StreamDictionary || h.Codec == format.CodecZstdDict || h.Raw == 0 {
		return nil, 0, format.Corruptf("block", s.offset+offset, "no dictionary")
	}
	out, ok := decodeStored(nil, b[format.BlockHeaderSize:format.BlockHeaderSize+int(h.Stored)], h.Codec, h.Raw, plainDecoder())
	if !ok {
		return nil, 0, format.Corruptf("block", s.offset+offset, "%d stored bytes do not decode to %d", h.Stored, h.Raw)
	}
	if d, err = newDecoder(out); err != nil {
		return nil, 0, format.Corruptf("block", s.offset+offset, "no zstd dictionary: %v", err)
	}
	if id := binary.LittleEndian.Uint32(out[4:]); id != format.DictionaryID { // behind its magic
		return nil, 0, format.Corruptf("block", s.offset+offset, "zstd dictionary %d, want %d", id, format.DictionaryID)
	}
	return d, len(out), nil
}

// take returns the next piece of the loaded block. ok is false at its end or
// where the pieces break the rules; then rest is not empty.
func (sc *scratch) take(stream format.Stream) (p format.Piece, ok bool) {
	if len(sc.rest) == 0 {
		return p, false
	}
	p, rest, ok := format.NextPiece(sc.rest, sc.first)
	key := makeBlockKey(p.Turn, p.Part)
	// The first piece is the one that the header names; the others follow in order.
	if !ok || key < sc.last || !sc.begun && key != sc.last || len(p.Meta) > 0 && (p.Part > 0 || stream != format.StreamContent) {
		return p, false
	}
	sc.last, sc.begun = key+1, true
	sc.rest = rest
	return p, true
}

// find takes pieces until the one asked for.
func (sc *scratch) find(stream format.Stream, key blockKey) (format.Piece, error) {
	for {
		p, ok := sc.take(stream)
		if !ok {
			return p, format.Corruptf("block", sc.at, "piece %d of turn %d is not where the index says", uint32(key), uint32(key>>32))
		}
		if makeBlockKey(p.Turn, p.Part) == key {
			return p, nil
		}
	}
}

// locate loads the block of a piece and takes the piece.
func (s *Segment) locate(l *layout, sc *scratch, set *pageSet, stream format.Stream, key blockKey) (format.Piece, error) {
	if sc.cursor.guess(set, key, s.index(l, set)) && s.loadBlock(l, sc, stream) == nil {
		// The block says itself which pieces it holds, so no page has to.
		if p, err := sc.find(stream, key); err == nil {
			return p, nil
		}
	}
	if err := sc.cursor.seek(set, key); err != nil {
		return format.Piece{}, err
	}
	if err := s.loadBlock(l, sc, stream); err != nil {
		return format.Piece{}, err
	}
	return sc.find(stream, key)
}

// contentLength reads the content length off a meta part: SPEC.md section 8.
func contentLength(meta []byte) (n int, ok bool) {
	if len(meta) < 8 {
		return 0, false
	}
	p := 8
	var v uint64
	for range 2 { // flags, content length
		var w int
		v, w = binary.Uvarint(meta[p:])
		if w <= 0 {
			return 0, false
		}
		p += w
	}
	return int(min(v, format.MaxContent+1)), v <= format.MaxContent
}

// intact holds meta and content against the sum in meta.
//
// REQUIRES: len(meta) >= 8.
func intact(meta, content []byte) bool {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(meta[8:])
	_, _ = d.Write(content)
	return d.Sum64() == binary.LittleEndian.Uint64(meta)
}
