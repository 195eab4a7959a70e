package wal

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"ctxdb/format"
)

func sampleTurns() []format.Turn {
	return []format.Turn{
		{Role: "user", Content: []byte("what is in the log?")},
		{Role: "tool", Thread: "main", Key: "k-1", Content: bytes.Repeat([]byte("line\n"), 300), Source: []byte(`{"content":"line"}`), ReplyTo: 1},
		{},
		{Role: "assistant", Time: time.Unix(1700000000, 5).UTC(), Summary: "s", Tags: []string{"a", ""}, Embedding: []float32{1, -2}, Source: []byte{}},
		{Content: bytes.Repeat([]byte{0}, 128)},
	}
}

func payloadOf(turns []format.Turn) (payload []byte) {
	for i := range turns {
		t := &turns[i]
		payload = AppendTurn(payload, format.AppendMeta(nil, t), t.Content, t.Source)
	}
	return payload
}

func TestTurns(t *testing.T) {
	want := sampleTurns()
	payload := payloadOf(want)
	size, i := 0, 0
	for raw, err := range Turns(payload, uint64(len(want)), 1000) {
		check(t, err)
		w := want[i]
		meta := format.AppendMeta(nil, &w)
		size += TurnSize(meta, w.Content, w.Source)
		if !bytes.Equal(raw.Content, w.Content) || !bytes.Equal(raw.Source, w.Source) || (raw.Source == nil) != (w.Source == nil) {
			t.Errorf("turn %d: content or source differs", i)
		}
		if !bytes.Equal(raw.Record, slices.Concat(meta, w.Content)) || raw.Meta.Key != w.Key || raw.Meta.Role != w.Role || !raw.Meta.Intact(raw.Content) {
			t.Errorf("turn %d: record differs", i)
		}
		i++
	}
	if i != len(want) || size != len(payload) {
		t.Errorf("%d of %d turns, %d bytes of %d", i, len(want), size, len(payload))
	}
	for range Turns(payload, uint64(len(want)), 0) {
		break // leaving early is allowed
	}
}

func TestTurnSize(t *testing.T) {
	for _, n := range []int{0, 1, 126, 127, 128, 16383, 16384, 1 << 21} {
		meta, content := make([]byte, n/2), make([]byte, n-n/2)
		if got, want := TurnSize(meta, content, []byte("abc")), len(AppendTurn(nil, meta, content, []byte("abc"))); got != want {
			t.Errorf("record of %d bytes: size %d, appended %d", n, got, want)
		}
	}
}

// A payload that is cut, too long, or counted wrong is corrupt, with an offset inside it.
func TestTurnsDamaged(t *testing.T) {
	want := sampleTurns()
	payload := payloadOf(want)
	bad := func(name string, payload []byte, count uint64) {
		t.Helper()
		n := uint64(0)
		var failed error
		for _, err := range Turns(payload, count, 1000) {
			if failed != nil {
				t.Errorf("%s: goes on behind an error", name)
			}
			if failed = err; err == nil {
				n++
			}
		}
		var corrupt *format.CorruptError
		if !errors.As(failed, &corrupt) || corrupt.Offset < 1000 || corrupt.Offset > 1000+int64(len(payload)) || n > count {
			t.Errorf("%s: %d turns, %v", name, n, failed)
		}
	}
	for cut := range payload {
		bad("cut", payload[:cut], uint64(len(want)))
	}
	bad("a byte more", append(slices.Clone(payload), 0), uint64(len(want)))
	bad("a turn more", payload, uint64(len(want)+1))
	bad("a turn less", payload, uint64(len(want)-1))
	bad("very many turns", payload, 1<<40)
	bad("an enormous record", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 1)
	bad("a length that is not minimal", append([]byte{payload[0] | 0x80, 0}, payload[1:]...), uint64(len(want)))
	longer := slices.Clone(payload)
	longer[0]++ // the record takes a byte of the next one
	bad("a record that is longer than its content", longer, uint64(len(want)))
}
