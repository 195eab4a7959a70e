package format

import (
	"encoding/binary"
	"reflect"
	"strings"
	"time"
)

// layout ties a table of SPEC.md to a Go struct and its codec.
type layout struct {
	table     string
	size      int
	fields    []layoutField // one for each row that is not reserved, in order
	elsewhere []string      // Go fields that another table describes
	anyOrder  bool          // the struct follows another table

	base   any // pointer to a valid struct
	encode func(x any) []byte
	decode func(b []byte) (any, error)
}

// layoutField is a row and the Go field that it holds; no name: magic, count or
// checksum, which have tests of their own.
type layoutField struct {
	row, name string
	derived   bool  // computed by the encoder
	refused   bool  // another value is valid only with other fields changed
	unit      int64 // the row counts in these
	other     any   // another valid value; nil: each byte of it one higher
}

func (f layoutField) change(v reflect.Value, size int) {
	const ones = 0x0101010101010101
	switch {
	case f.other != nil:
		v.Set(reflect.ValueOf(f.other).Convert(v.Type()))
	case v.CanInt():
		v.SetInt(v.Int() + ones>>(64-8*size))
	default:
		v.SetUint(v.Uint() + ones>>(64-8*size))
	}
}

func (l *layout) copy() any {
	v := reflect.New(reflect.TypeOf(l.base).Elem())
	v.Elem().Set(reflect.ValueOf(l.base).Elem())
	return v.Interface()
}

// lay describes rows as "row=Field", with "row" alone for what is no field,
// "!" before a field that is computed and "?" before one that is refused when
// it changes alone.
func lay[T any](table string, size int, rows string, base T, other map[string]any, encode func(*T) []byte, decode func([]byte) (T, error)) layout {
	l := layout{table: table, size: size, base: &base,
		encode: func(x any) []byte { return encode(x.(*T)) },
		decode: func(b []byte) (any, error) { return decode(b) },
	}
	for _, r := range strings.Fields(rows) {
		row, name, _ := strings.Cut(r, "=")
		f := layoutField{row: row, name: strings.TrimLeft(name, "!?"), unit: 1}
		f.derived, f.refused = strings.HasPrefix(name, "!"), strings.HasPrefix(name, "?")
		f.other = other[f.name]
		l.fields = append(l.fields, f)
	}
	return l
}

func layouts() []layout {
	return append(append(layoutsOfRoots(), layoutsOfLog()...), layoutsOfSegments()...)
}

type leafImage struct{ Entries []SegmentEntry }

type pageImage struct{ Entries []KeyEntry }

func layoutsOfRoots() []layout {
	root := lay("root", rootHeaderSize, "magic leaves runs lost vectors segments=?Segments forgottenOffset=ForgottenOffset forgottenLength=ForgottenLength forgottenSum=ForgottenSum asideOffset=AsideOffset asideLength=AsideLength asideSum=AsideSum",
		*fixRootValue(), map[string]any{"ForgottenOffset": 0x110000, "ForgottenLength": 0x4321, "AsideOffset": 0x610000, "AsideLength": 0x5432},
		func(r *Root) []byte { b, _ := r.Encode(fixUUID, fixRoot); return b },
		func(b []byte) (Root, error) {
			r, err := DecodeRoot(b, fixUUID, fixRoot, binary.LittleEndian.Uint64(b[len(b)-8:]))
			return *r, err
		})
	root.elsewhere = []string{"Leaves", "Runs", "Lost", "Vectors"}
	return []layout{
		lay("superblock", SuperblockSize, "magic major=?Major minor=Minor state=?State optionalFeatures=OptionalFeatures writeFeatures=WriteFeatures requiredFeatures=?RequiredFeatures "+
			"uuid=UUID epoch=Epoch nonce=Nonce created=Created nextID=NextID nextLSN=NextLSN nextSegment=NextSegment nextCycle=NextCycle "+
			"rootOffset=RootOffset rootLength=RootLength rootSum=RootSum end=End logCount log=Log checksum",
			fixSuperblock(), map[string]any{"UUID": UUID{1, 2, 3}, "NextID": int64(0x1122334455), "RootOffset": 0x183000, "RootLength": 0x23000, "End": int64(0x615253545556), "Log": fixSuperblock().Log[1:]},
			func(s *Superblock) []byte { return s.Encode(SlotB) },
			func(b []byte) (Superblock, error) { return DecodeSuperblock(b, SlotB) }),
		lay("log entry", logEntrySize, "offset=Offset length=Length cycle=Cycle salt=Salt firstLSN=FirstLSN", fixExtent(), nil,
			func(x *LogExtent) []byte { b := make([]byte, logEntrySize); x.encode(b); return b },
			func(b []byte) (LogExtent, error) { return decodeLogExtent(b), nil }),
		lay("holder", HolderSize, "magic pid=PID since=Since hostLength host=Host checksum", fixHolder(),
			map[string]any{"Since": time.Unix(0, -0x1112131415161718), "Host": strings.Repeat("h", 255)},
			func(h *Holder) []byte { return h.Encode() },
			func(b []byte) (Holder, error) { h, ok := DecodeHolder(b); return h, orNone(ok) }),
		lay("leaf", LeafSize, "magic count entries=Entries checksum", leafImage{fixSegmentEntries()}, map[string]any{"Entries": fixSegmentEntries()[1:]},
			func(l *leafImage) []byte { b, _ := EncodeLeaf(fixUUID, fixLeaf, l.Entries); return b },
			func(b []byte) (l leafImage, err error) {
				l.Entries, err = DecodeLeaf(b, fixUUID, fixLeaf, binary.LittleEndian.Uint64(b[4088:]))
				return l, err
			}),
		lay("segment entry", segmentEntrySize, "number=Number offset=Offset length=Length firstID=FirstID turns=Turns nonce=Nonce footerSum=FooterSum contentBytes=ContentBytes "+
			"sourceBytes=SourceBytes tokens=Tokens minTime=MinTime maxTime=MaxTime keys=Keys metaTurns=MetaTurns rawBytes=RawBytes", fixSegmentEntries()[0], nil,
			func(e *SegmentEntry) []byte { b := make([]byte, segmentEntrySize); e.encode(b); return b },
			func(b []byte) (SegmentEntry, error) { return decodeSegmentEntry(b), nil }),
		root,
		lay("leaf entry", leafEntrySize, "offset=Offset sum=Sum firstID=FirstID count=Count", fixRootValue().Leaves[0], nil,
			func(x *LeafRef) []byte { b := make([]byte, leafEntrySize); x.encode(b); return b },
			func(b []byte) (LeafRef, error) { return decodeLeafRef(b), nil }),
		lay("run entry", runEntrySize, "offset=Offset length=Length firstID=FirstID endID=EndID nonce=Nonce keys=Keys level=Level", fixRootValue().Runs[0], nil,
			func(x *RunEntry) []byte { b := make([]byte, runEntrySize); x.encode(b); return b },
			func(b []byte) (RunEntry, error) { return decodeRunEntry(b), nil }),
		lay("lost range", lostRangeSize, "firstID=FirstID count=Count offset=Offset length=Length", fixRootValue().Lost[0], nil,
			func(x *LostRange) []byte { b := make([]byte, lostRangeSize); x.encode(b); return b },
			func(b []byte) (LostRange, error) { return decodeLostRange(b), nil }),
		lay("vector entry", vectorEntrySize, "offset=Offset length=Length firstID=FirstID endID=EndID nonce=Nonce model=Model bytes=Bytes dims=Dims vectors=Vectors", fixRootValue().Vectors[0], nil,
			func(x *VectorEntry) []byte { b := make([]byte, vectorEntrySize); x.encode(b); return b },
			func(b []byte) (VectorEntry, error) { return decodeVectorEntry(b), nil }),
	}
}

func layoutsOfLog() []layout {
	var last LogExtent // the check takes what it expects
	edge := lay("extent header", LogEdge, "magic uuid cycle=Cycle salt=Salt offset=Offset length=Length checksum", fixExtent(), nil,
		func(x *LogExtent) []byte { last = *x; return EncodeLogEdge(fixUUID, *x, false) },
		func(b []byte) (LogExtent, error) { return last, CheckLogEdge(b, fixUUID, last, false) })
	edge.elsewhere, edge.anyOrder = []string{"FirstLSN"}, true
	return []layout{
		edge,
		lay("frame header", FrameHeaderSize, "type=?Type length=Length lsn=LSN promised=Promised firstID=FirstID count=Count salt=Salt headerSum=!HeadSum bodySum=!BodySum",
			fixFrameHeader(0x203), map[string]any{"Type": 0x81, "Length": 0x10203, "FirstID": int64(0x4142434445), "Count": 0x102},
			func(f *Frame) []byte {
				b := make([]byte, FrameSize(int(f.Length)))
				PutFrame(b, fixUUID, fixFrame, f)
				return b
			},
			func(b []byte) (Frame, error) {
				f, ok := DecodeFrame(b, fixUUID, binary.LittleEndian.Uint64(b[40:]), fixFrame, int64(len(b)))
				return f, orNone(ok && f.BodyIntact(b, fixUUID, fixFrame))
			}),
	}
}

func layoutsOfSegments() []layout {
	var h SegmentHeader // the segment of the footer that was encoded last
	entry := lay("block entry", indexEntrySize, "turn=Turn part=Part offset=Offset storedLength=Stored",
		BlockEntry{Turn: 0x01020304, Part: 0x11121314, Offset: 0x21222324 * BlockAlign, Stored: 0x31323334}, map[string]any{"Offset": int64(0xF1F2F3F4) * BlockAlign},
		func(e *BlockEntry) []byte { b := make([]byte, indexEntrySize); PutBlockEntry(b, 0, *e); return b },
		func(b []byte) (BlockEntry, error) { return BlockEntryAt(b, 0), nil })
	entry.fields[2].unit = BlockAlign
	return []layout{
		lay("segment header", SegmentHeaderSize, "magic uuid=UUID number=Number nonce=Nonce firstID=FirstID turns=Turns length=Length checksum",
			*fixSegmentHeader(), map[string]any{"UUID": UUID{7}, "FirstID": int64(0x2122232425), "Turns": 0x51525354, "Length": int64(0x112233445)},
			func(h *SegmentHeader) []byte { return h.Encode() },
			func(b []byte) (SegmentHeader, error) { return DecodeSegmentHeader(b, 0) }),
		lay("block header", BlockHeaderSize, "checksum=!Checksum storedLength=Stored rawLength=Raw turn=Turn part=Part ordinal=Ordinal stream=Stream codec=Codec magic",
			fixBlockHeader(0x304), map[string]any{"Stored": 0x70605, "Raw": 0x10203, "Stream": 3, "Codec": 1},
			func(h *BlockHeader) []byte {
				b := make([]byte, BlockSize(int(h.Stored)))
				PutBlockHeader(b, fixUUID, fixNonce, fixBlock, h)
				return b
			},
			func(b []byte) (BlockHeader, error) { return DecodeBlock(b, fixUUID, fixNonce, fixBlock, fixBase) }),
		lay("section entry", SectionEntrySize, "type=Type offset=Offset length=Length entries=Entries",
			Section{Type: 0x01020304, Offset: 0x203, Length: 0x304, Entries: 0x1112131415161718}, map[string]any{"Offset": 0x1122, "Length": 0x2233},
			func(s *Section) []byte { return EncodeSections([]Section{*s}) },
			func(b []byte) (Section, error) {
				h, f := fixSegmentHeader(), fixFooter()
				EncodeFooter(h, b, &f)
				list, err := DecodeSections(b, h, &f, 0)
				return append(list, Section{})[0], err
			}),
		lay("index page", IndexPageSize, "entries=Entries count checksum", pageImage{[]KeyEntry{{1, 2}, {3, 4}}}, map[string]any{"Entries": []KeyEntry{{5, 6}}},
			func(p *pageImage) []byte {
				b := make([]byte, IndexPageSize)
				for i, e := range p.Entries {
					PutKeyEntry(b, i, e)
				}
				SealPage(b, fixUUID, fixNonce, SectionKeys, 2, len(p.Entries))
				return b
			},
			func(b []byte) (p pageImage, err error) {
				n, err := CheckPage(b, fixUUID, fixNonce, SectionKeys, 2, 0)
				for i := range n {
					p.Entries = append(p.Entries, KeyEntryAt(b, i))
				}
				return p, err
			}),
		entry,
		lay("key entry", indexEntrySize, "hash=Hash id=ID", KeyEntry{0x0102030405060708, 0x1112131415161718}, nil,
			func(e *KeyEntry) []byte { b := make([]byte, indexEntrySize); PutKeyEntry(b, 0, *e); return b },
			func(b []byte) (KeyEntry, error) { return KeyEntryAt(b, 0), nil }),
		lay("footer", FooterSize, "magic number=Number tableOffset=TableOffset sections=Sections tableSum=!TableSum checksum=!Checksum",
			fixFooter(), map[string]any{"TableOffset": int64(0x1112131415161718), "Sections": 33},
			func(f *Footer) []byte {
				h = *fixSegmentHeader()
				h.Number, h.Length = f.Number, f.TableOffset+int64(f.Sections)*SectionEntrySize+FooterSize
				return EncodeFooter(&h, []byte("a table"), f)
			},
			func(b []byte) (Footer, error) { return DecodeFooter(b, &h, 0) }),
	}
}
