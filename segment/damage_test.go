package segment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

// small makes a segment that has everything and is small enough to be damaged
// in each of its bits: dictionary, long turns, sources, keys, empty contents.
func small(t testing.TB) (*segment.Built, []segment.Turn) {
	turns := []segment.Turn{
		packed(t, format.Turn{Role: "user", Thread: "main", Key: "k1", Content: []byte("what is in main.go?")}),
		packed(t, format.Turn{Role: "assistant", Content: nil, ReplyTo: 1}),
		packed(t, format.Turn{Role: "tool", Key: "k3", Content: []byte(strings.Repeat("func main() { return }\n", 300))}),
		packed(t, format.Turn{Role: "tool", Key: "k4", Content: []byte("func main() { return }\n"), Source: []byte(`{"content":"func main() { return }\n","x":1}`)}),
		packed(t, format.Turn{Role: "meta", Embedding: []float32{1, 2, 3}, Content: []byte("note"), Source: []byte{}}),
	}
	return build(t, 1, turns, segment.BuildOptions{BlockBytes: 700, DictionaryBytes: 256}), turns
}

// exact reads everything in every way: each answer is what was put in, or an
// error. It returns the number of errors.
func exact(t *testing.T, s *segment.Segment, turns []segment.Turn, what string) (failed int) {
	t.Helper()
	check := func(err error, same bool) {
		if err == nil && !same {
			t.Fatalf("%s: wrong bytes without an error", what)
		}
		if err != nil {
			if !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, segment.ErrTruncated) && !errors.Is(err, segment.ErrNoTurn) {
				t.Fatalf("%s: unexpected error: %v", what, err)
			}
			failed++
		}
	}
	for i, want := range turns {
		id := s.Entry().FirstID + uint64(i)
		turn, err := s.Turn(id)
		check(err, bytes.Equal(turn.Content, want.Content) && turn.Key == want.Record.Key && turn.Role == want.Record.Role)
		content, err := s.AppendContent(nil, id)
		check(err, bytes.Equal(content, want.Content))
		r, err := s.Record(id)
		check(err, r.Sum == want.Record.Sum && r.Key == want.Record.Key)
		n, err := s.Parts(id)
		check(err, n == format.Parts(want.Content))
		part, err := s.AppendPart(nil, id, 0)
		check(err, bytes.Equal(part, want.Content[:format.PartEnd(want.Content)]))
		source, ok, err := s.AppendSource(nil, id)
		check(err, ok == (want.Source != nil) && bytes.Equal(source, want.Source))
		_, err = s.Where(id)
		check(err, true)
		if key := want.Record.Key; key != "" {
			ids, err := s.FindKey(format.HashKey(key), nil)
			check(err, len(ids) == 1 && ids[0] == id)
		}
	}
	return failed + exactAll(t, s, turns, what)
}

// exactAll holds that All covers each id once, exactly or by an error.
func exactAll(t *testing.T, s *segment.Segment, turns []segment.Turn, what string) (failed int) {
	t.Helper()
	next := s.Entry().FirstID
	for got, err := range s.All(context.Background()) {
		var lost *segment.RangeError
		if err != nil {
			failed++
			if !errors.As(err, &lost) {
				return failed
			}
			if !lost.Source {
				if lost.FirstID != next || lost.Count == 0 {
					t.Fatalf("%s: range %d+%d at %d", what, lost.FirstID, lost.Count, next)
				}
				next += lost.Count
				continue
			}
		}
		want := turns[next-s.Entry().FirstID]
		if got.ID != next || !bytes.Equal(got.Content, want.Content) || !bytes.Equal(got.Meta, want.Meta) || err == nil && !bytes.Equal(got.Source, want.Source) {
			t.Fatalf("%s: turn %d of all is wrong", what, next)
		}
		next++
	}
	if next != s.Entry().EndID() {
		t.Fatalf("%s: all ends before %d", what, next)
	}
	return failed
}

func findings(t *testing.T, s *segment.Segment) (list []segment.Finding) {
	t.Helper()
	if err := s.Verify(context.Background(), func(f segment.Finding) bool {
		list = append(list, f)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// padding marks the bytes between blocks, which nothing checks.
func padding(b *segment.Built) map[int]bool {
	pad := map[int]bool{}
	for p := format.SegmentHeaderSize; ; {
		h, ok := format.PeekBlock(b.Bytes[p:])
		if !ok {
			return pad
		}
		end := p + int(format.BlockSize(int(h.Stored)))
		for i := p + format.BlockHeaderSize + int(h.Stored); i < end; i++ {
			pad[i] = true
		}
		p = end
	}
}

// memory is a file of bytes, to be damaged quickly.
func memory(t *testing.T, b []byte) disk.File {
	t.Helper()
	return &byteFile{b: b}
}

func TestEveryBit(t *testing.T) {
	b, turns := small(t)
	holds(t, segment.Open(memory(t, b.Bytes), "m", testUUID, b.Entry, segment.OpenOptions{}), turns)
	pad := padding(b)
	for i := 0; i < len(b.Bytes); i += trial.Size(1, 19) {
		for bit := range 8 {
			damaged := bytes.Clone(b.Bytes)
			damaged[i] ^= 1 << bit
			s := segment.Open(memory(t, damaged), "m", testUUID, b.Entry, segment.OpenOptions{})
			exact(t, s, turns, fmt.Sprintf("bit %d of byte %d", bit, i))
			if list := findings(t, s); len(list) == 0 && !pad[i] || pad[i] && len(list) > 0 {
				t.Fatalf("bit %d of byte %d (padding: %t): findings %v", bit, i, pad[i], list)
			}
			s.Close()
		}
	}
}

func TestEveryLength(t *testing.T) {
	b, turns := small(t)
	for n := 0; n < len(b.Bytes); n += trial.Size(1, 19) {
		s := segment.Open(memory(t, b.Bytes[:n]), "m", testUUID, b.Entry, segment.OpenOptions{})
		if _, err := s.Turn(1); !errors.Is(err, segment.ErrTruncated) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if exact(t, s, turns, fmt.Sprint(n, " bytes")) == 0 || len(findings(t, s)) == 0 {
			t.Fatalf("%d bytes: nothing found", n)
		}
		// The same where the file goes on with zeros.
		zeros := append(bytes.Clone(b.Bytes[:n]), make([]byte, len(b.Bytes)-n)...)
		if bytes.Equal(zeros, b.Bytes) {
			continue
		}
		s = segment.Open(memory(t, zeros), "m", testUUID, b.Entry, segment.OpenOptions{})
		exact(t, s, turns, fmt.Sprint(n, " bytes, then zeros"))
		if len(findings(t, s)) == 0 {
			t.Fatalf("%d bytes, then zeros: nothing found", n)
		}
	}
}

func TestZeroedSectors(t *testing.T) {
	turns := generated(t, 9, 60)
	b := build(t, 1, turns, segment.BuildOptions{})
	for at := 0; at+512 <= len(b.Bytes); at += 512 * trial.Size(1, 7) {
		damaged := bytes.Clone(b.Bytes)
		clear(damaged[at : at+512])
		if bytes.Equal(damaged, b.Bytes) {
			continue
		}
		s := segment.Open(memory(t, damaged), "m", testUUID, b.Entry, segment.OpenOptions{})
		exact(t, s, turns, fmt.Sprint("sector at ", at))
		if len(findings(t, s)) == 0 {
			t.Fatalf("sector at %d: nothing found", at)
		}
	}
}

// Damage in one block must not hide the turns of the others.
func TestAllGoesOn(t *testing.T) {
	turns := generated(t, 4, 200)
	b := build(t, 1, turns, segment.BuildOptions{DictionaryBytes: -1})
	s := segment.Open(memory(t, b.Bytes), "m", testUUID, b.Entry, segment.OpenOptions{})
	where, err := s.Where(100)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{where[0].Offset, where[0].Offset + 40, 0, b.Entry.Length - 1} {
		damaged := bytes.Clone(b.Bytes)
		damaged[at] ^= 0xFF
		s := segment.Open(memory(t, damaged), "m", testUUID, b.Entry, segment.OpenOptions{})
		intact := 0
		for _, err := range s.All(context.Background()) {
			if err == nil {
				intact++
			}
		}
		if intact < 150 {
			t.Errorf("damage at %d leaves %d of 200 turns", at, intact)
		}
	}
}

func TestTruncatedUnderUs(t *testing.T) {
	turns := generated(t, 5, 400)
	b := build(t, 1, turns, segment.BuildOptions{})
	for _, noMap := range []bool{false, true} {
		f, path := onDisk(t, b.Bytes, 4096)
		e := b.Entry
		e.Offset = 4096
		s := segment.Open(f, path, testUUID, e, segment.OpenOptions{NoMap: noMap})
		if _, err := s.Turn(1); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 5000); err != nil {
			t.Fatal(err)
		}
		for id := uint64(1); id <= 400; id++ {
			content, err := s.AppendContent(nil, id)
			if err != nil && !errors.Is(err, segment.ErrTruncated) || err == nil && !bytes.Equal(content, turns[id-1].Content) {
				t.Fatalf("turn %d: %v", id, err)
			}
		}
		if _, err := s.Turn(400); !errors.Is(err, segment.ErrTruncated) {
			t.Fatalf("last turn: %v", err)
		}
		if len(findings(t, s)) == 0 {
			t.Fatal("nothing found")
		}
		s.Close()
	}
}

func TestClosed(t *testing.T) {
	b, turns := small(t)
	s := opened(t, b, 0, segment.OpenOptions{})
	if !s.Acquire() {
		t.Fatal("no reference")
	}
	s.Close()
	s.Close()
	exact(t, s, turns, "closed, but held")
	s.Release()
	if s.Acquire() {
		t.Fatal("a reference after the last")
	}
	if _, err := s.Turn(1); !errors.Is(err, fs.ErrClosed) {
		t.Fatalf("after the last reference: %v", err)
	}
}
