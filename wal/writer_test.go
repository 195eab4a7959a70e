package wal

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

func TestWriterGroup(t *testing.T) {
	m, f := memFile(t, 1, extentA, extentB)
	w := NewWriter(f, testUUID, extentA, 5)
	writes := 0
	m.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpWrite {
			writes++
		}
		return nil
	})
	var kept [][]byte
	for i, text := range []string{"one", "second", "the third one"} {
		lsn, payload, err := stage(w, 4, uint64(10+i), []byte(text))
		if err != nil || lsn != format.LSN(5+i) || string(payload) != text {
			t.Fatalf("staged %d %q: %v", lsn, payload, err)
		}
		kept = append(kept, payload)
	}
	if w.Staged() != 3 || w.Used() != 72+72+80 {
		t.Errorf("%d frames staged in %d bytes", w.Staged(), w.Used())
	}
	check(t, w.Write(), w.Write())
	if writes != 1 {
		t.Errorf("a group of 3 frames took %d writes", writes)
	}
	if _, _, err := stage(w, 7, 13, []byte("next group")); err != nil {
		t.Fatal(err)
	}
	w.Discard()
	check(t, w.Write(), w.Promise(7, 13), f.Sync())
	if writes != 2 || w.Next() != 9 {
		t.Errorf("%d writes, next LSN %d", writes, w.Next())
	}
	r, err := Scan(f, testUUID, []format.LogExtent{extentA, extentB}, ScanOptions{FirstLSN: 5, NextID: 10})
	check(t, err)
	if len(r.Entries) != 3 || r.Promised != 7 || r.NextID != 13 || r.LastLSN != 8 || r.TornBytes != 0 {
		t.Errorf("scan: %+v", r)
	}
	if u := r.Uses[0]; u.Used != w.Used() || u.Frames != 4 || u.Promises != 1 || u.Turns != 3 || r.Uses[1].Used != 0 {
		t.Errorf("use: %+v", r.Uses)
	}
	for i, e := range r.Entries {
		if !bytes.Equal(e.Payload, kept[i]) {
			t.Errorf("payload %d is %q, Stage returned %q", i, e.Payload, kept[i])
		}
	}
}

// What the room says is exactly what fits, and a promise still does.
func TestWriterRoom(t *testing.T) {
	for _, waste := range []int{0, 1, 7, 8, 9} {
		_, f := memFile(t, 1, extentA)
		w := NewWriter(f, testUUID, extentA, 1)
		if w.Room() != w.Capacity() || w.Capacity() != Capacity(extentA.Length) {
			t.Fatalf("room %d, capacity %d", w.Room(), w.Capacity())
		}
		if waste > 0 {
			if _, _, err := stage(w, 0, 1, make([]byte, waste)); err != nil {
				t.Fatal(err)
			}
		}
		before, used := w.Room(), w.Used()
		if _, _, err := stage(w, 0, 2, make([]byte, before+1)); !errors.Is(err, ErrFull) {
			t.Errorf("more than the room: %v", err)
		}
		_, _, err := w.Stage(0, 2, 1, 10, func(dst []byte) []byte { return append(dst, make([]byte, before+1)...) })
		if !errors.Is(err, ErrFull) || w.Room() != before || w.Used() != used {
			t.Errorf("more than was said: %v, room %d of %d", err, w.Room(), before)
		}
		if _, _, err := stage(w, 0, 2, make([]byte, before)); err != nil {
			t.Fatal(err)
		}
		next := w.Next()
		check(t, w.Write(), w.Promise(next-1, 3))
		if w.Next() != next+1 || w.Room() != 0 {
			t.Errorf("the last promise did not fit: next LSN %d, room %d", w.Next(), w.Room())
		}
		check(t, w.Promise(next, 3)) // no room is no error
		if w.Next() != next+1 {
			t.Error("a promise without room took an LSN")
		}
		var edge [format.LogEdge]byte
		check(t, disk.ReadFull(f, edge[:], edgeAt(extentA, true)), format.CheckLogEdge(edge[:], testUUID, extentA, true))
	}
}

// Payloads stay what they were when the group moves, is written, or dropped.
func TestWriterPayloadsAreStable(t *testing.T) {
	_, f := memFile(t, 1, extentA)
	w := NewWriter(f, testUUID, extentA, 1)
	var kept [][]byte
	for i := range 50 {
		want := bytes.Repeat([]byte{byte(i + 1)}, 4*i+1)
		_, payload, err := stage(w, 0, uint64(i+1), want)
		check(t, err)
		kept = append(kept, payload)
		if i == 20 {
			check(t, w.Write())
		}
		if cap(payload) != len(payload) {
			t.Fatal("a payload can be appended to in place")
		}
	}
	w.Discard()
	if _, _, err := stage(w, 0, 22, []byte("something else")); err != nil {
		t.Fatal(err)
	}
	for i, payload := range kept {
		if !bytes.Equal(payload, bytes.Repeat([]byte{byte(i + 1)}, 4*i+1)) {
			t.Errorf("payload %d changed", i)
		}
	}
}

func TestWriterReserve(t *testing.T) {
	_, f := memFile(t, 1, extentA)
	w := NewWriter(f, testUUID, extentA, 1)
	w.Reserve(3 * format.FrameSize(100))
	var first *byte
	for i := range 3 {
		_, _, err := stage(w, 0, uint64(i+1), make([]byte, 100))
		check(t, err)
		if i == 0 {
			first = &w.group[0]
		}
	}
	if &w.group[0] != first {
		t.Error("the group moved although its space was reserved")
	}
	w.Reserve(1 << 40)
	w.Reserve(-1)
	if cap(w.group) > 4*format.MinLogExtent {
		t.Errorf("reserved %d bytes in an extent of %d", cap(w.group), format.MinLogExtent)
	}
}

// After a write that failed nothing is ever written under this salt.
func TestWriterFailedWrite(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO, &disk.ShortWrite{N: 70}} {
		m, f := memFile(t, 1, extentA)
		w := NewWriter(f, testUUID, extentA, 1)
		_, _, err := stage(w, 0, 1, []byte("first"))
		check(t, err)
		m.SetHook(func(op disk.Op) error { return fault })
		if err := w.Write(); err == nil || errors.Is(err, ErrFailed) || !w.Failed() {
			t.Fatalf("%v: %v, failed %v", fault, err, w.Failed())
		}
		ops := m.Ops()
		m.SetHook(nil)
		_, _, staged := stage(w, 0, 1, []byte("again"))
		for _, err := range []error{staged, w.Write(), w.Promise(0, 1)} {
			if !errors.Is(err, ErrFailed) {
				t.Errorf("%v, then: %v", fault, err)
			}
		}
		w.Discard()
		if err := w.Write(); !errors.Is(err, ErrFailed) || m.Ops() != ops {
			t.Errorf("%v, then discarded: %v, %d operations", fault, err, m.Ops()-ops)
		}
	}
}

// What a Scan would not accept is refused when it is laid out.
func TestWriterRefuses(t *testing.T) {
	_, f := memFile(t, 1, extentA)
	w := NewWriter(f, testUUID, extentA, 3)
	keep := func(dst []byte) []byte { return append(dst, "payload"...) }
	for name, err := range map[string]error{
		"a promise of itself":     third(w.Stage(3, 1, 1, 7, keep)),
		"no id":                   third(w.Stage(2, 0, 1, 7, keep)),
		"no turns":                third(w.Stage(2, 1, 0, 7, keep)),
		"more turns than bytes":   third(w.Stage(2, 1, 8, 7, keep)),
		"ids beyond the limit":    third(w.Stage(2, format.MaxTurns, 2, 7, keep)),
		"an empty payload":        third(w.Stage(2, 1, 1, 7, func(dst []byte) []byte { return dst })),
		"a shrinking payload":     third(w.Stage(2, 1, 1, 7, func(dst []byte) []byte { return dst[:0] })),
		"a promise of the future": w.Promise(9, 1),
	} {
		if err == nil || errors.Is(err, ErrFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.Staged() != 0 || w.Used() != 0 || w.Next() != 3 || w.Failed() {
		t.Errorf("something was staged: %d frames, %d bytes", w.Staged(), w.Used())
	}
	if _, _, err := stage(w, 2, 1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := w.Promise(2, 2); err == nil {
		t.Error("a promise wrote what was staged")
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }

func TestPrepare(t *testing.T) {
	m, f := memFile(t, 1)
	x := format.LogExtent{Offset: 12288, Length: 1 << 20, Cycle: 3, Salt: 4}
	check(t, disk.WriteFull(f, bytes.Repeat([]byte{0xff}, 2<<20), 0))
	largest := 0
	m.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpSync {
			t.Error("Prepare synced")
		}
		largest = max(largest, op.Len)
		return nil
	})
	check(t, Prepare(f, testUUID, x))
	m.SetHook(nil)
	if largest != 256<<10 {
		t.Errorf("the largest write has %d bytes", largest)
	}
	r, err := Scan(f, testUUID, []format.LogExtent{x}, ScanOptions{FirstLSN: 1, NextID: 1})
	if err != nil || len(r.Entries) != 0 || r.TornBytes != 0 {
		t.Errorf("a prepared extent: %+v, %v", r, err)
	}
	for _, at := range []int64{x.Offset - 1, x.Offset + x.Length} {
		var b [1]byte
		check(t, disk.ReadFull(f, b[:], at))
		if b[0] != 0xff {
			t.Errorf("the byte at %d beside the extent changed", at)
		}
	}
	m.SetHook(func(op disk.Op) error { return syscall.ENOSPC })
	if err := Prepare(f, testUUID, x); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if err := Prepare(f, testUUID, format.LogExtent{}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("no extent: %v", err)
	}
}
