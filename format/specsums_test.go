package format

import (
	"encoding/binary"
	"regexp"
	"strings"
	"testing"
)

// specBind is B of SPEC.md section 2, made from its table and not from Bind.
func specBind(t testing.TB, fields map[string][]byte) uint64 {
	t.Helper()
	b := make([]byte, bindingSize)
	for _, r := range specTables(t)["binding"] {
		if len(fields[r.field]) != r.size {
			t.Fatalf("binding: %d bytes for field %q of %d", len(fields[r.field]), r.field, r.size)
		}
		copy(b[r.offset:], fields[r.field])
	}
	return Hash(b)
}

// H is XXH64 with seed 0: the sums that its author publishes.
func TestSpecHash(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0xEF46DB3751D8E999, "a": 0xD24EC4F1A98C6E5B, "abc": 0x44BC2CF5AD770999,
	} {
		if Hash([]byte(text)) != want || HashKey(text) != want {
			t.Errorf("H(%q) is %#x, want %#x", text, Hash([]byte(text)), want)
		}
	}
}

// boundSum is a checksum as an encoder made it, and the words by which SPEC.md
// calls what it binds.
type boundSum struct {
	sum   uint64
	body  []byte // "bytes 0 to n" of it
	words map[string]uint64
	bytes map[string][]byte
}

func boundSums(t testing.TB) map[string]boundSum {
	le := binary.LittleEndian
	s, x, h := fixSuperblock(), fixExtent(), fixSegmentHeader()
	super, head, tail, segment := s.Encode(SlotB), EncodeLogEdge(fixUUID, x, false), EncodeLogEdge(fixUUID, x, true), h.Encode()
	leaf, leafSum := EncodeLeaf(fixUUID, fixLeaf, fixSegmentEntries())
	root, rootSum := fixRootValue().Encode(fixUUID, fixRoot)
	table := EncodeSections(fixSections())
	f := fixFooter()
	footer := EncodeFooter(h, table, &f)
	frame, _ := codecNamed(t, "frame").base()
	block, _ := codecNamed(t, "block").base()
	page, _ := codecNamed(t, "index-page").base()
	data := append([]byte("hot"), make([]byte, IndexPageSize-3)...)
	SealDataPage(data, fixUUID, fixNonce, SectionHot, 2)
	at := map[string]uint64{"salt": fixSalt, "absolute offset of the frame": fixFrame, "headerSum": le.Uint64(frame[48:])}
	seg := map[string]uint64{"nonce": fixNonce, "number": h.Number, "segment nonce": fixNonce, "offset of the block in the segment": fixBlock}
	const edgePlace = "offset of this header or trailer"
	return map[string]boundSum{
		"1":  {le.Uint64(super[4088:]), super, map[string]uint64{"epoch": s.Epoch, "slot offset": SlotB}, nil},
		"2":  {le.Uint64(head[56:]), head, map[string]uint64{"salt": x.Salt, edgePlace: uint64(x.Offset)}, nil},
		"12": {le.Uint64(tail[56:]), tail, map[string]uint64{"salt": x.Salt, edgePlace: uint64(x.Offset + x.Length - 512)}, nil},
		"3":  {le.Uint64(frame[48:]), frame, at, nil},
		"4":  {le.Uint64(frame[56:]), frame, at, map[string][]byte{"the payload": frame[64 : 64+le.Uint32(frame[4:])]}},
		"5":  {leafSum, leaf, map[string]uint64{"0": 0, "offset of the leaf": fixLeaf}, nil},
		"6":  {rootSum, root, map[string]uint64{"0": 0, "offset of the root": fixRoot}, map[string][]byte{"all bytes before it": root[:len(root)-8]}},
		"7":  {le.Uint64(segment[120:]), segment, seg, nil},
		"8":  {le.Uint64(block[0:]), block, seg, map[string][]byte{"header from byte 8 and the stored bytes": block[8 : 32+le.Uint32(block[8:])]}},
		"9":  {le.Uint64(page[4088:]), page, map[string]uint64{"nonce": fixNonce, "section type x 2^32 + page number": 3<<32 + 3}, nil},
		"13": {le.Uint64(data[4088:]), data, map[string]uint64{"nonce": fixNonce, "section type x 2^32 + page number": 5<<32 + 2}, nil},
		"10": {f.TableSum, nil, seg, map[string][]byte{"the section table": table}},
		"11": {f.Checksum, footer, seg, nil},
	}
}

// Each `B(kind, nonce, place, bytes)` of SPEC.md is what the encoder does.
func TestSpecChecksums(t *testing.T) {
	sums := boundSums(t)
	text := strings.Join(strings.Fields(specText(t)), " ")
	for _, m := range regexp.MustCompile(`B\(([\d or]+), ([^,()]+), ([^,()]+), ([^()]+)\)`).FindAllStringSubmatch(text, -1) {
		for _, kind := range strings.Split(m[1], " or ") {
			s, ok := sums[kind]
			if !ok {
				t.Errorf("%s: no such kind, or twice", m[0])
				continue
			}
			delete(sums, kind)
			nonce, ok1 := s.words[m[2]]
			place, ok2 := s.words[m[3]]
			body, ok3 := s.bytes[m[4]]
			if n, found := strings.CutPrefix(m[4], "bytes 0 to "); found {
				body, ok3 = s.body[:number(t, n)], true
			}
			if !ok1 || !ok2 || !ok3 {
				t.Errorf("%s: words that are not known here", m[0])
				continue
			}
			le := func(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }
			want := specBind(t, map[string][]byte{"uuid": fixUUID[:], "nonce": le(nonce), "place": le(place), "kind": le(uint64(number(t, kind))), "sum": le(Hash(body))})
			if s.sum != want {
				t.Errorf("%s: the encoder's sum differs for kind %s", m[0], kind)
			}
		}
	}
	for kind := range sums {
		t.Errorf("SPEC.md has no B(%s, ...)", kind)
	}
	b := fixHolder().Encode()
	if !strings.Contains(rowNamed(t, "holder", "checksum").meaning, "H(bytes 0 to 4,088)") || Hash(b[:4088]) != binary.LittleEndian.Uint64(b[4088:]) {
		t.Error("the holder's checksum differs")
	}
}
