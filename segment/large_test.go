package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"ctxdb/format"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

func TestLongTurn(t *testing.T) {
	size := 64 << 20
	if trial.Brief() {
		size = 4 << 20
	}
	line := prose(rand.New(rand.NewPCG(8, 8)), 1<<20)
	content := bytes.Repeat(line, size/len(line))
	turns := []segment.Turn{
		packed(t, format.Turn{Role: "tool", Content: content, Source: content}),
		packed(t, format.Turn{Role: "user", Content: []byte("after")}),
	}
	s := opened(t, build(t, 1, turns, segment.BuildOptions{}), 4096, segment.OpenOptions{})
	parts, err := s.Parts(1)
	if err != nil || parts != format.Parts(content) {
		t.Fatalf("%d parts, %v", parts, err)
	}
	rest := content
	for part := 0; len(rest) > 0; part++ {
		end := format.PartEnd(rest)
		if part%997 == 0 || part == parts-1 {
			got, err := s.AppendPart(nil, 1, part)
			if err != nil || !bytes.Equal(got, rest[:end]) {
				t.Fatalf("part %d: %v", part, err)
			}
		}
		rest = rest[end:]
	}
	// A part costs a block, not the turn.
	buffer := make([]byte, 0, 8192)
	if n := testing.AllocsPerRun(20, func() { buffer, _ = s.AppendPart(buffer[:0], 1, parts/2) }); n > 1 && !trial.Race {
		t.Errorf("%v allocations for a part", n)
	}
	got, err := s.AppendContent(nil, 1)
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("content: %v", err)
	}
	source, ok, err := s.AppendSource(nil, 1)
	if err != nil || !ok || !bytes.Equal(source, content) {
		t.Fatalf("source: %v", err)
	}
}

func TestNoAllocation(t *testing.T) {
	if trial.Race {
		t.Skip("under the race detector a pool loses what it was given, on purpose")
	}
	turns := generated(t, 2, 300)
	for _, noMap := range []bool{false, true} {
		s := opened(t, build(t, 1, turns, segment.BuildOptions{}), 4096, segment.OpenOptions{NoMap: noMap})
		buffer := make([]byte, 0, 64<<10)
		ids := make([]uint64, 0, 8)
		key := uint64(0)
		for id := uint64(1); id <= 300; id++ {
			// The pool may lose a scratch to a collection in between.
			if n := testing.AllocsPerRun(10, func() { buffer, _ = s.AppendContent(buffer[:0], id) }); n > 0 {
				t.Fatalf("mapped %t: %v allocations for turn %d", !noMap, n, id)
			}
			if k := turns[id-1].Record.Key; k != "" {
				key = format.HashKey(k)
			}
		}
		if n := testing.AllocsPerRun(10, func() { ids, _ = s.FindKey(key, ids[:0]) }); n > 0 {
			t.Errorf("%v allocations for a key", n)
		}
	}
}

// Many segments share few decoders, from many goroutines.
func TestDecoderCache(t *testing.T) {
	cache := segment.NewDecoderCache(400 << 10)
	turns := generated(t, 6, 120)
	b := build(t, 1, turns, segment.BuildOptions{DictionaryBytes: 32 << 10})
	segments := make([]*segment.Segment, 20)
	for i := range segments {
		segments[i] = opened(t, b, 4096, segment.OpenOptions{Decoders: cache})
	}
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(g, 1))
			for range 400 {
				i := rng.IntN(len(turns))
				content, err := segments[rng.IntN(len(segments))].AppendContent(nil, uint64(i)+1)
				if err != nil || !bytes.Equal(content, turns[i].Content) {
					t.Errorf("turn %d: %v", i+1, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := cache.Bytes(); n > 400<<10 {
		t.Errorf("%d bytes in the cache", n)
	}
	for _, s := range segments {
		s.Close()
	}
	if n := cache.Bytes(); n != 0 {
		t.Errorf("%d bytes after the last close", n)
	}
}

// A section of a type that this program does not know is skipped.
func TestUnknownSection(t *testing.T) {
	b, turns := small(t)
	tail := len(b.Bytes) - format.FooterSize
	tableAt := int(binary.LittleEndian.Uint64(b.Bytes[tail+16:]))
	table := b.Bytes[tableAt:tail]
	unknown := make([]byte, format.SectionEntrySize)
	binary.LittleEndian.PutUint32(unknown, 77)
	binary.LittleEndian.PutUint64(unknown[8:], uint64(tableAt))
	binary.LittleEndian.PutUint64(unknown[16:], 40)
	body := append(bytes.Clone(b.Bytes[:tableAt]), bytes.Repeat([]byte("x"), 40)...)
	table = append(bytes.Clone(table), unknown...)

	id := identity(1)
	h := format.SegmentHeader{UUID: id.UUID, Number: id.Number, Nonce: id.Nonce, FirstID: 1, Turns: uint64(len(turns)), Length: int64(len(body) + len(table) + format.FooterSize)}
	f := format.Footer{Number: id.Number, TableOffset: int64(len(body)), Sections: uint32(len(table) / format.SectionEntrySize)}
	whole := append(append(body, table...), format.EncodeFooter(&h, table, &f)...)
	copy(whole, h.Encode())
	e := b.Entry
	e.Length, e.FooterSum = h.Length, f.Checksum
	holds(t, segment.Open(memory(t, whole), "m", testUUID, e, segment.OpenOptions{}), turns)
}

func TestBuildRefuses(t *testing.T) {
	good := packed(t, format.Turn{Role: "user", Content: []byte("content"), Source: []byte("source")})
	other := packed(t, format.Turn{Role: "user", Content: []byte("CONTENT"), Source: []byte("source")})
	wrong := good
	wrong.Content = other.Content
	noSource := good
	noSource.Source = nil
	for name, turns := range map[string][]segment.Turn{"none": nil, "content": {wrong}, "source": {noSource}} {
		if _, err := segment.Build(identity(1), turns, segment.BuildOptions{}); err == nil {
			t.Errorf("%s: built", name)
		}
	}
	if _, err := segment.Build(identity(0), []segment.Turn{good}, segment.BuildOptions{}); !errors.Is(err, format.ErrTooLarge) {
		t.Errorf("id 0: %v", err)
	}
}

// The catalog entry decides which segment is meant.
func TestAnotherEntry(t *testing.T) {
	b, _ := small(t)
	for name, change := range map[string]func(e *format.SegmentEntry){
		"number": func(e *format.SegmentEntry) { e.Number++ },
		"nonce":  func(e *format.SegmentEntry) { e.Nonce++ },
		"first":  func(e *format.SegmentEntry) { e.FirstID++ },
		"turns":  func(e *format.SegmentEntry) { e.Turns++ },
		"footer": func(e *format.SegmentEntry) { e.FooterSum++ },
		"length": func(e *format.SegmentEntry) { e.Length -= 8 },
	} {
		e := b.Entry
		change(&e)
		s := segment.Open(memory(t, b.Bytes), "m", testUUID, e, segment.OpenOptions{})
		if _, err := s.Turn(3); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := segment.Open(memory(t, b.Bytes), "m", format.UUID{9}, b.Entry, segment.OpenOptions{})
	if _, err := s.Turn(3); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("uuid: %v", err)
	}
}
