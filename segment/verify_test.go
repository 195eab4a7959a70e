package segment_test

import (
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/segment"
)

// placed is a block and the turns that have pieces in it, in order.
type placed struct {
	segment.Location
	ids []uint64
}

func (p *placed) first() uint64 { return p.ids[0] }
func (p *placed) last() uint64  { return p.ids[len(p.ids)-1] }

const placedAt = 4096 // where these segments lie

func blocksOf(t *testing.T, b *segment.Built) (content, source []placed) {
	t.Helper()
	s := opened(t, b, placedAt, segment.OpenOptions{})
	var all []placed
	for id := s.Entry().FirstID; id < s.Entry().EndID(); id++ {
		where, err := s.Where(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range where {
			i := slices.IndexFunc(all, func(p placed) bool { return p.Offset == l.Offset })
			if i < 0 {
				i, all = len(all), append(all, placed{Location: l})
			}
			all[i].ids = append(all[i].ids, id)
		}
	}
	for _, p := range all {
		if p.Stream == format.StreamSource {
			source = append(source, p)
		} else {
			content = append(content, p)
		}
	}
	return content, source
}

// harmed opens a segment of which the middle of some blocks is overwritten.
func harmed(t *testing.T, b *segment.Built, blocks ...placed) *segment.Segment {
	t.Helper()
	bytes := slices.Clone(b.Bytes)
	for _, p := range blocks {
		middle := int(p.Offset) - placedAt + format.BlockHeaderSize + p.Stored/2
		for i := range min(8, p.Stored-p.Stored/2) {
			bytes[middle+i] ^= 0xa5
		}
	}
	damaged := *b
	damaged.Bytes = bytes
	return opened(t, &damaged, placedAt, segment.OpenOptions{NoMap: true})
}

// TestOneBlockOneFinding: a damaged block is one finding, of the turns from the first to
// the last that it holds, however few or many they are.
func TestOneBlockOneFinding(t *testing.T) {
	for _, o := range []segment.BuildOptions{{}, {BlockBytes: 700, SourceBlockBytes: 700}, {DictionaryBytes: -1}} {
		b := build(t, 40, generated(t, 3, 40), o)
		content, source := blocksOf(t, b)
		if len(content) < 8 || len(source) == 0 {
			t.Fatalf("%d blocks of content, %d of sources", len(content), len(source))
		}
		for region, blocks := range map[string][]placed{"block": content, "source block": source} {
			for _, p := range blocks {
				list := findings(t, harmed(t, b, p))
				if len(list) != 1 || list[0].Region != region || list[0].Offset != p.Offset || list[0].FirstID != p.first() || list[0].Count != p.last()-p.first()+1 {
					t.Errorf("%+v: %s at %d of turns %v: %+v", o, region, p.Offset, p.ids, list)
				}
			}
		}
	}
}

// TestNeighboursAreOneFinding: what is lost with blocks side by side is told once, unless a
// turn ends where two of them meet.
func TestNeighboursAreOneFinding(t *testing.T) {
	b := build(t, 40, generated(t, 3, 40), segment.BuildOptions{})
	blocks, _ := blocksOf(t, b)
	for i := range blocks[2:] {
		list := findings(t, harmed(t, b, blocks[i], blocks[i+1], blocks[i+2]))
		first, last := blocks[i].first(), blocks[i+2].last()
		if len(list) != 1 || list[0].Offset != blocks[i].Offset || list[0].FirstID != first || list[0].Count != last-first+1 {
			t.Errorf("turns %d to %d: %+v", first, last, list)
		}
	}
}

// TestDictionaryIsOneFinding: without its dictionary a segment is lost for one reason.
func TestDictionaryIsOneFinding(t *testing.T) {
	turns := generated(t, 3, 40)
	b := build(t, 40, turns, segment.BuildOptions{})
	h, ok := format.PeekBlock(b.Bytes[format.SegmentHeaderSize:])
	if !ok || h.Stream != format.StreamDictionary {
		t.Fatal("no dictionary")
	}
	at := placed{Location: segment.Location{Offset: placedAt + format.SegmentHeaderSize, Stored: int(h.Stored)}}
	list := findings(t, harmed(t, b, at))
	if len(list) != 1 || list[0].Offset != at.Offset || list[0].FirstID != 40 || list[0].Count != uint64(len(turns)) {
		t.Errorf("%+v", list)
	}
}
