package segment_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"ctxdb/format"
	"ctxdb/segment"
)

// FuzzSegment reads arbitrary bytes as a segment, and the same bytes with every
// checksum made right, so that the checks behind the checksums are reached.
func FuzzSegment(f *testing.F) {
	b, _ := small(f)
	f.Add(b.Bytes, uint16(0))
	f.Add(b.Bytes[:len(b.Bytes)/2], uint16(3))
	f.Add([]byte("ctxsegm\n"), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, change uint16) {
		probe(t, data, b.Entry)
		damaged := bytes.Clone(b.Bytes)
		at := int(change) % len(damaged)
		copy(damaged[at:], data[:min(len(data), 64)])
		resealed(damaged)
		probe(t, damaged, b.Entry)
	})
}

// resealed computes the checksums of header, blocks and index pages anew.
func resealed(b []byte) {
	id := identity(1)
	for p := format.SegmentHeaderSize; p+format.BlockHeaderSize <= len(b); {
		h, ok := format.PeekBlock(b[p:])
		if !ok || p+format.BlockHeaderSize+int(h.Stored) > len(b) {
			break
		}
		format.PutBlockHeader(b[p:], id.UUID, id.Nonce, int64(p), &h)
		p += int(format.BlockSize(int(h.Stored)))
	}
	tail := len(b) - format.FooterSize
	h := format.SegmentHeader{UUID: id.UUID, Number: id.Number, Nonce: id.Nonce, FirstID: 1, Turns: 5, Length: int64(len(b))}
	f, err := format.DecodeFooter(b[tail:], &h, 0)
	if err != nil {
		return
	}
	sections, err := format.DecodeSections(b[f.TableOffset:tail], &h, &f, 0)
	if err != nil {
		return
	}
	for _, s := range sections {
		for i := 0; s.Type <= format.SectionKeys && i < format.IndexPages(int(s.Entries)); i++ {
			page := b[int(s.Offset)+i*format.IndexPageSize:][:format.IndexPageSize]
			format.SealPage(page, id.UUID, id.Nonce, s.Type, i, min(int(s.Entries)-i*format.IndexPageEntries, format.IndexPageEntries))
		}
	}
}

// probe calls everything; nothing may panic, hang or return more than there is.
func probe(t *testing.T, b []byte, e format.SegmentEntry) {
	e.Length = int64(len(b))
	s := segment.Open(memory(t, b), "fuzz", testUUID, e, segment.OpenOptions{Decoders: segment.NewDecoderCache(1 << 20)})
	defer s.Close()
	for id := e.FirstID; id < e.EndID(); id++ {
		_, _ = s.Turn(id)
		_, _ = s.AppendContent(nil, id)
		_, _ = s.Record(id)
		_, _ = s.Parts(id)
		_, _ = s.AppendPart(nil, id, 1)
		_, _, _ = s.AppendSource(nil, id)
		_, _ = s.Where(id)
	}
	_, _ = s.FindKey(format.HashKey("k3"), nil)
	for range s.Keys() {
	}
	n := uint64(0)
	for range s.All(context.Background()) {
		if n++; n > 2*e.Turns+2 {
			t.Fatal("all goes on for ever")
		}
	}
	_ = s.Verify(context.Background(), func(segment.Finding) bool { return true })
}

// FuzzRoundTrip builds from arbitrary turns and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("content"), []byte("source"), "key", "role", int64(5), uint16(100))
	f.Add([]byte{}, []byte(nil), "", "", int64(0), uint16(0))
	f.Add(bytes.Repeat([]byte("line\n"), 3000), []byte("{}"), "k", "tool", int64(1), uint16(4096))
	f.Fuzz(func(t *testing.T, content, source []byte, key, role string, at int64, block uint16) {
		turn := format.Turn{Role: role, Key: key, Content: content, Source: source, Time: time.Unix(0, at).UTC()}
		if turn.Validate() != nil {
			t.Skip()
		}
		turns := []segment.Turn{packed(t, turn), packed(t, format.Turn{Content: source, Source: content}), packed(t, format.Turn{Role: role, Content: content})}
		b := build(t, 3, turns, segment.BuildOptions{BlockBytes: int(block)})
		s := segment.Open(memory(t, b.Bytes), "fuzz", testUUID, b.Entry, segment.OpenOptions{})
		defer s.Close()
		holds(t, s, turns)
	})
}
