package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"

	"ctxdb/format"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

// holds compares everything that a segment returns with what it was built from.
func holds(t *testing.T, s *segment.Segment, turns []segment.Turn) {
	t.Helper()
	first := s.Entry().FirstID
	for i, want := range turns {
		id := first + uint64(i)
		turn, err := s.Turn(id)
		if err != nil {
			t.Fatalf("turn %d: %v", id, err)
		}
		wantTurn := want.Record.Turn
		wantTurn.Content = turn.Content
		if !bytes.Equal(turn.Content, want.Content) || !reflect.DeepEqual(turn, wantTurn) {
			t.Fatalf("turn %d differs", id)
		}
		content, err := s.AppendContent([]byte("before"), id)
		if err != nil || !bytes.Equal(content[6:], want.Content) || string(content[:6]) != "before" {
			t.Fatalf("content of %d: %v", id, err)
		}
		r, err := s.Record(id)
		if err != nil || !reflect.DeepEqual(r, want.Record) {
			t.Fatalf("record of %d: %v", id, err)
		}
		holdsParts(t, s, id, want.Content)
		source, ok, err := s.AppendSource(nil, id)
		if err != nil || ok != (want.Source != nil) || !bytes.Equal(source, want.Source) {
			t.Fatalf("source of %d: %t, %v", id, ok, err)
		}
		if key := want.Record.Key; key != "" {
			ids, err := s.FindKey(format.HashKey(key), nil)
			if err != nil || len(ids) != 1 || ids[0] != id {
				t.Fatalf("key of %d: %v, %v", id, ids, err)
			}
		}
	}
	holdsAll(t, s, turns)
}

func holdsParts(t *testing.T, s *segment.Segment, id uint64, content []byte) {
	t.Helper()
	n, err := s.Parts(id)
	if err != nil || n != format.Parts(content) {
		t.Fatalf("parts of %d: %d, %v", id, n, err)
	}
	for part := range n {
		end := format.PartEnd(content)
		got, err := s.AppendPart(nil, id, part)
		if err != nil || !bytes.Equal(got, content[:end]) {
			t.Fatalf("part %d of %d: %v", part, id, err)
		}
		content = content[end:]
	}
	if _, err := s.AppendPart(nil, id, n); err == nil {
		t.Fatalf("part %d of %d exists", n, id)
	}
	if where, err := s.Where(id); err != nil || len(where) == 0 {
		t.Fatalf("blocks of %d: %v, %v", id, where, err)
	}
}

func holdsAll(t *testing.T, s *segment.Segment, turns []segment.Turn) {
	t.Helper()
	i := 0
	for got, err := range s.All(context.Background()) {
		if err != nil {
			t.Fatalf("turn %d of all: %v", i, err)
		}
		want := turns[i]
		if got.ID != s.Entry().FirstID+uint64(i) || !bytes.Equal(got.Meta, want.Meta) || !bytes.Equal(got.Content, want.Content) || !bytes.Equal(got.Source, want.Source) || (got.Source == nil) != (want.Source == nil) {
			t.Fatalf("turn %d of all differs", i)
		}
		i++
	}
	if i != len(turns) {
		t.Fatalf("%d of %d turns", i, len(turns))
	}
	clean(t, s)
}

func clean(t *testing.T, s *segment.Segment) {
	t.Helper()
	if err := s.Verify(context.Background(), func(f segment.Finding) bool {
		t.Errorf("finding: %+v", f)
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	options := map[string]segment.BuildOptions{
		"default":      {},
		"large blocks": {BlockBytes: 64 << 10},
		"tiny blocks":  {BlockBytes: 1, SourceBlockBytes: 1},
		"no dict":      {DictionaryBytes: -1},
		"dict":         {DictionaryBytes: 32 << 10},
	}
	for name, o := range options {
		for seed := uint64(1); seed <= uint64(trial.Size(3, 2)); seed++ {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				turns := generated(t, seed, 1+int(seed*seed)*40)
				b := build(t, 40, turns, o)
				for _, noMap := range []bool{false, true} {
					holds(t, opened(t, b, 4096*5, segment.OpenOptions{NoMap: noMap}), turns)
				}
				again := build(t, 40, turns, o)
				if !bytes.Equal(again.Bytes, b.Bytes) || again.Entry != b.Entry {
					t.Error("the same turns gave other bytes")
				}
			})
		}
	}
}
