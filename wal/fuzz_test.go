package wal

import (
	"bytes"
	"encoding/binary"
	"testing"

	"ctxdb/format"
)

// FuzzScan reads arbitrary bytes between the edges of two extents. With resum
// the sums of what looks like a frame are made right, so that the rules behind them are
// reached too.
func FuzzScan(f *testing.F) {
	im, _ := smallLog()
	f.Add([]byte(im[framesAt(extentA):edgeAt(extentA, true)]), []byte(im[framesAt(extentB):edgeAt(extentB, true)]), uint64(1), uint64(1), false)
	f.Add([]byte(im[framesAt(extentA):edgeAt(extentA, true)]), []byte{}, uint64(0), uint64(0), true)
	f.Add([]byte{1, 0, 0, 0, 255, 255, 255, 255}, bytes.Repeat([]byte{2}, 200), uint64(1)<<63, uint64(1)<<40, true)
	f.Fuzz(func(t *testing.T, a, b []byte, firstLSN, nextID uint64, resum bool) {
		im := newImage(extentA, extentB)
		log := []format.LogExtent{extentA, extentB}
		for i, bytes := range [][]byte{a, b} {
			x := log[i]
			copy(im[framesAt(x):edgeAt(x, true)], bytes)
			if resum {
				im.resum(x)
			}
		}
		for _, o := range []ScanOptions{{}, {PromisedOnly: true}} {
			o.FirstLSN, o.NextID = format.LSN(firstLSN), nextID
			holdResult(t, im.scan(t, o, log...), o)
		}
	})
}

// resum makes frames of an extent's bytes, as far as their lengths permit.
func (im image) resum(x format.LogExtent) {
	le := binary.LittleEndian
	for at := framesAt(x); at+format.FrameHeaderSize <= edgeAt(x, true); {
		b := im[at:edgeAt(x, true)]
		f := format.Frame{Type: format.FrameType(b[0]), Length: le.Uint32(b[4:]), LSN: format.LSN(le.Uint64(b[8:])), Promised: format.LSN(le.Uint64(b[16:])),
			FirstID: le.Uint64(b[24:]), Count: le.Uint64(b[32:]), Salt: x.Salt}
		if format.FrameHeaderSize+int64(f.Length) > int64(len(b)) {
			return
		}
		format.PutFrame(b, testUUID, at, &f)
		at += format.FrameSize(int(f.Length))
	}
}

// holdResult holds any result against what every one must be.
func holdResult(t *testing.T, r *Result, o ScanOptions) {
	t.Helper()
	lsn, id, at := max(o.FirstLSN, 1)-1, uint64(0), int64(0)
	for _, e := range r.Entries {
		if e.Frame.LSN <= lsn || e.Frame.FirstID < max(id, o.NextID) || e.At < at || e.Frame.LSN > r.LastLSN {
			t.Fatalf("frame %d, id %d at %d behind frame %d, id %d", e.Frame.LSN, e.Frame.FirstID, e.At, lsn, id)
		}
		if o.PromisedOnly && e.Frame.LSN > r.Promised {
			t.Fatalf("frame %d is shown, %d is promised", e.Frame.LSN, r.Promised)
		}
		if len(r.Damages) == 0 && (id != 0 && e.Frame.FirstID != id) {
			t.Fatalf("id %d follows %d without damage", e.Frame.FirstID, id)
		}
		lsn, id, at = e.Frame.LSN, e.Frame.FirstID+e.Frame.Count, e.At+format.FrameSize(int(e.Frame.Length))
		for _, err := range e.Turns() {
			if err != nil {
				break
			}
		}
	}
	if r.NextID < max(id, o.NextID) || r.LastLSN+1 != r.End.LSN {
		t.Fatalf("next id %d behind %d; last LSN %d, then %d", r.NextID, id, r.LastLSN, r.End.LSN)
	}
	for _, d := range r.Damages {
		if d.Offset < framesAt(extentA) || d.Length < 0 || d.Offset+d.Length > edgeAt(extentB, true) || d.FirstID+d.Count > max(r.NextID, o.NextID) {
			t.Fatalf("damage %+v, next id %d", d, r.NextID)
		}
	}
}

func FuzzTurns(f *testing.F) {
	want := sampleTurns()
	f.Add(payloadOf(want), uint64(len(want)))
	f.Add([]byte{}, uint64(0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, uint64(1)<<40)
	f.Fuzz(func(t *testing.T, payload []byte, count uint64) {
		var again []byte
		for raw, err := range Turns(payload, count, 0) {
			if err != nil {
				return
			}
			meta := raw.Record[:len(raw.Record)-len(raw.Content)]
			again = AppendTurn(again, meta, raw.Content, raw.Source)
		}
		if !bytes.Equal(again, payload) {
			t.Errorf("appended again: %d bytes of %d", len(again), len(payload))
		}
	})
}
