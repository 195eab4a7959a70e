package format

import (
	"bytes"
	"encoding/binary"
)

func segmentCodecs() []codec {
	h := fixSegmentHeader()
	return []codec{{
		name: "segment-header", table: "segment header", free: nothing,
		base: func() ([]byte, args) { return h.Encode(), args{"at": fixBase} },
		seal: func(v *vector) {
			if b := v.Body; len(b) >= SegmentHeaderSize {
				put(b, 120, bind(UUID(b[8:24]), KindSegment, binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[24:]), b[:120]))
			}
		},
		decode: func(v *vector) ([]byte, error) {
			h, err := DecodeSegmentHeader(v.Body, int64(v.Args["at"]))
			return h.Encode(), err
		},
	}, {
		name: "block", table: "block header",
		base: func() ([]byte, args) {
			stored := []byte("stored bytes; a codec would know them")
			b := make([]byte, BlockSize(len(stored)))
			copy(b[BlockHeaderSize:], stored)
			bh := fixBlockHeader(len(stored))
			PutBlockHeader(b, fixUUID, fixNonce, fixBlock, &bh)
			return b, args{"base": fixBase, "at": fixBlock, "nonce": fixNonce}
		},
		seal: func(v *vector) {
			if len(v.Body) < BlockHeaderSize {
				return
			}
			if end := BlockHeaderSize + int64(binary.LittleEndian.Uint32(v.Body[8:])); end <= int64(len(v.Body)) {
				put(v.Body, 0, bind(fixUUID, KindBlock, v.Args["nonce"], v.Args["at"], v.Body[8:end]))
			}
		},
		decode: func(v *vector) ([]byte, error) {
			bh, err := DecodeBlock(v.Body, fixUUID, v.Args["nonce"], int64(v.Args["at"]), int64(v.Args["base"]))
			if err != nil {
				return nil, err
			}
			b := bytes.Clone(v.Body)
			PutBlockHeader(b, fixUUID, v.Args["nonce"], int64(v.Args["at"]), &bh)
			return b, nil
		},
		free: func(b []byte, i int) bool { return i >= BlockHeaderSize+int(binary.LittleEndian.Uint32(b[8:])) },
	}, pageCodec(), {
		name: "section-table", free: nothing,
		base: func() ([]byte, args) {
			table := EncodeSections(fixSections())
			f := fixFooter()
			EncodeFooter(h, table, &f)
			return table, args{"at": uint64(fixBase + f.TableOffset), "sum": f.TableSum, "number": h.Number, "nonce": h.Nonce, "length": fixLength}
		},
		seal: func(v *vector) { v.Args["sum"] = bind(fixUUID, KindSectionTable, h.Nonce, h.Number, v.Body) },
		decode: func(v *vector) ([]byte, error) {
			f := fixFooter()
			f.TableSum = v.Args["sum"]
			sections, err := DecodeSections(v.Body, h, &f, int64(v.Args["at"]))
			return EncodeSections(sections), err
		},
		canon: func(v *vector) {
			for p := 0; p < len(v.Body); p += SectionEntrySize {
				clear(v.Body[p+4 : p+8])
			}
		},
	}, {
		name: "footer", table: "footer", free: nothing,
		base: func() ([]byte, args) {
			f := fixFooter()
			return EncodeFooter(h, EncodeSections(fixSections()), &f), args{"at": fixBase + fixLength - FooterSize, "number": h.Number, "nonce": h.Nonce, "length": fixLength}
		},
		seal: func(v *vector) {
			if len(v.Body) >= FooterSize {
				put(v.Body, 56, bind(fixUUID, KindFooter, h.Nonce, h.Number, v.Body[:56]))
			}
		},
		decode: func(v *vector) ([]byte, error) {
			f, err := DecodeFooter(v.Body, h, int64(v.Args["at"]))
			if err != nil {
				return nil, err
			}
			// EncodeFooter makes the sum of a table that is not at hand here.
			b := EncodeFooter(h, nil, &f)
			copy(b[32:40], v.Body[32:40])
			put(b, 56, bind(fixUUID, KindFooter, h.Nonce, h.Number, b[:56]))
			return b, nil
		},
	}}
}

func pageCodec() codec {
	const section, number = SectionKeys, 3
	return codec{
		name: "index-page", table: "index page", free: nothing,
		base: func() ([]byte, args) {
			page := make([]byte, IndexPageSize)
			for i := range 5 {
				PutKeyEntry(page, i, KeyEntry{Hash: 0x0102030405060708 * uint64(i+1), ID: uint64(i) + 0x2122})
			}
			SealPage(page, fixUUID, fixNonce, section, number, 5)
			return page, args{"at": fixBase + 0x1398, "nonce": fixNonce, "section": uint64(section), "number": number}
		},
		seal: func(v *vector) {
			if len(v.Body) >= IndexPageSize {
				put(v.Body, 4088, bind(fixUUID, KindIndexPage, v.Args["nonce"], v.Args["section"]<<32+v.Args["number"], v.Body[:4088]))
			}
		},
		decode: func(v *vector) ([]byte, error) {
			section, number := SectionType(v.Args["section"]), int(v.Args["number"])
			count, err := CheckPage(v.Body, fixUUID, v.Args["nonce"], section, number, int64(v.Args["at"]))
			if err != nil {
				return nil, err
			}
			page := make([]byte, IndexPageSize)
			for i := range count {
				PutKeyEntry(page, i, KeyEntryAt(v.Body, i))
			}
			SealPage(page, fixUUID, v.Args["nonce"], section, number, count)
			return page, nil
		},
		canon: func(v *vector) { clear(v.Body[16*int(binary.LittleEndian.Uint32(v.Body[4080:])) : 4080]) },
	}
}

func turnCodecs() []codec {
	return []codec{{
		name: "record", free: nothing,
		base: func() ([]byte, args) {
			turn := fixTurn()
			return append(AppendMeta(nil, turn), turn.Content...), args{"at": fixFrame + 70}
		},
		seal: func(v *vector) {
			if len(v.Body) >= 8 {
				put(v.Body, 0, Hash(v.Body[8:]))
			}
		},
		decode: decodeRecord,
	}, {
		name: "pieces", free: everything,
		base: func() ([]byte, args) {
			b := AppendPiece(nil, 500, &Piece{Turn: 500, Meta: []byte("meta"), Data: []byte("data of part 0")})
			b = AppendPiece(b, 500, &Piece{Turn: 500, Part: 1, Data: []byte("data of part 1")})
			return AppendPiece(b, 500, &Piece{Turn: 70000, Meta: []byte("m")}), args{"first": 500}
		},
		decode: func(v *vector) (again []byte, err error) {
			first := uint32(v.Args["first"])
			for rest := v.Body; len(rest) > 0; {
				p, next, ok := NextPiece(rest, first)
				if !ok {
					return nil, errNone
				}
				again = AppendPiece(again, first, &p)
				rest = next
			}
			return again, nil
		},
	}, {
		name: "source", free: everything,
		base: func() ([]byte, args) {
			turn := fixTurn()
			a := args{"at": fixBase + 0x200, "length": uint64(len(turn.Source)), "hash": Hash(turn.Source)}
			return EncodeSource(nil, turn.Source, turn.Content), a
		},
		decode: func(v *vector) ([]byte, error) {
			source, err := DecodeSource(nil, v.Body, v.Content, int(v.Args["length"]), int64(v.Args["at"]))
			if err == nil && Hash(source) != v.Args["hash"] {
				err = Corruptf("source", int64(v.Args["at"]), "hash differs")
			}
			return source, err // many encodings have one meaning: compare that
		},
	}}
}

// decodeRecord reads a record as a log frame holds it: meta, then content.
func decodeRecord(v *vector) ([]byte, error) {
	at := int64(v.Args["at"])
	r, n, err := DecodeMeta(v.Body, at)
	if err != nil {
		return nil, err
	}
	if !r.Intact(v.Body[n:]) {
		return nil, Corruptf("turn record", at, "sum differs")
	}
	r.Content = v.Body[n:]
	if r.SourceLen > 1<<20 {
		return bytes.Clone(v.Body), nil // no stand-in of that size
	}
	if r.HasSource {
		r.Source = make([]byte, r.SourceLen)
	}
	meta := AppendMeta(nil, &r.Turn)
	if r.HasSource { // the source is not at hand: replace the stand-in's hash
		standIn := binary.LittleEndian.AppendUint64(nil, Hash(r.Source))
		put(meta, bytes.Index(meta, standIn), r.SourceSum)
	}
	put(meta, 0, recordSum(meta[8:], r.Content))
	return append(meta, r.Content...), nil
}
