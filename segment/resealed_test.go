package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

// TestResealed changes every bit of the blocks and makes the checksums right
// again, as a program with a bug would: then only the sums of the turns and their
// sources, and the rules for frames and pieces, stand between a reader and wrong
// bytes. All is left out: it goes by the ids that the blocks say.
func TestResealed(t *testing.T) {
	b, turns := small(t)
	end := 0
	for p := format.SegmentHeaderSize; ; {
		h, ok := format.PeekBlock(b.Bytes[p:])
		if !ok {
			end = p
			break
		}
		p += int(format.BlockSize(int(h.Stored)))
	}
	noticed := 0
	for i := format.SegmentHeaderSize; i < end; i++ {
		for bit := range 8 {
			damaged := bytes.Clone(b.Bytes)
			damaged[i] ^= 1 << bit
			resealed(damaged)
			s := segment.Open(memory(t, damaged), "m", testUUID, b.Entry, segment.OpenOptions{})
			noticed += wholeTurns(t, s, turns, fmt.Sprintf("bit %d of byte %d", bit, i))
			s.Close()
		}
	}
	if noticed < (end-format.SegmentHeaderSize)*8/2 {
		t.Errorf("%d of %d changes were noticed: the checksums were not made right, or nothing was checked", noticed, (end-format.SegmentHeaderSize)*8)
	}
}

// wholeTurns reads what a turn's own sum covers; 1 where there was an error.
func wholeTurns(t *testing.T, s *segment.Segment, turns []segment.Turn, what string) (failed int) {
	t.Helper()
	for i, want := range turns {
		id := uint64(i) + 1
		if turn, err := s.Turn(id); err != nil {
			failed = 1
		} else if !bytes.Equal(turn.Content, want.Content) || turn.Key != want.Record.Key || turn.Role != want.Record.Role {
			t.Fatalf("%s: turn %d is wrong", what, id)
		}
		if source, ok, err := s.AppendSource(nil, id); err != nil {
			failed = 1
		} else if ok != (want.Source != nil) || !bytes.Equal(source, want.Source) {
			t.Fatalf("%s: source of %d is wrong", what, id)
		}
	}
	found := 0
	_ = s.Verify(context.Background(), func(segment.Finding) bool { found++; return true })
	if failed > 0 && found == 0 {
		t.Fatalf("%s: reading fails, but nothing is found", what)
	}
	return max(failed, min(found, 1))
}

// TestDamageUnderMap damages the mapped file itself, between reads.
func TestDamageUnderMap(t *testing.T) {
	b, turns := small(t)
	f, path := onDisk(t, b.Bytes, 4096)
	e := b.Entry
	e.Offset = 4096
	pad := padding(b)
	kept := segment.Open(f, path, testUUID, e, segment.OpenOptions{})
	defer kept.Close()
	for i := 0; i < len(b.Bytes); i += trial.Size(1, 19) {
		old := b.Bytes[i]
		if _, err := f.WriteAt([]byte{old ^ 1<<(i%8)}, 4096+int64(i)); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("byte %d under the map", i)
		exact(t, kept, turns, what)
		fresh := segment.Open(f, path, testUUID, e, segment.OpenOptions{})
		exact(t, fresh, turns, what)
		if found := len(findings(t, fresh)); (found == 0) != pad[i] {
			t.Fatalf("%s: %d findings", what, found)
		}
		fresh.Close()
		if _, err := f.WriteAt([]byte{old}, 4096+int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, kept, turns)
}
