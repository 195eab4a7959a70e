package wal

import (
	"bytes"
	"errors"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// A promise may be read behind a place that was read before its frame was
// written. That is no damage.
func TestScanWhileWriting(t *testing.T) {
	log := []format.LogExtent{extentA, extentB}
	_, f := memFile(t, 1, log...)
	w := NewWriter(f, testUUID, extentA, 1)
	reads := 0
	r, err := Scan(readerAt(func(p []byte, off int64) (int, error) {
		n, err := f.ReadAt(p, off)
		if reads++; len(p) > format.LogEdge && off == framesAt(extentA) && w.Next() == 1 {
			// Frame 1 and a rotation happen before extent B is read.
			_, _, e := stage(w, 0, 1, []byte("one"))
			check(t, e, w.Write(), f.Sync())
			w = NewWriter(f, testUUID, extentB, w.Next())
			_, _, e = stage(w, 1, 2, []byte("two"))
			check(t, e, w.Write())
		}
		return n, err
	}), testUUID, log, ScanOptions{FirstLSN: 1, NextID: 1, PromisedOnly: true})
	check(t, err)
	if len(r.Damages) != 0 || len(r.Entries) != 1 || r.LastLSN != 1 || r.TornBytes != 0 {
		t.Errorf("frames %v, damage %+v, torn %d", lsns(r), r.Damages, r.TornBytes)
	}
}

// An extent that is put to another use while its frames are read is noticed.
func TestScanWhileRecycling(t *testing.T) {
	for _, after := range []int{3, 4} { // header, trailer, frames, header
		_, f := memFile(t, 1, extentA)
		w := NewWriter(f, testUUID, extentA, 1)
		_, _, err := stage(w, 0, 1, []byte("one"))
		check(t, err, w.Write())
		reads := 0
		_, err = Scan(readerAt(func(p []byte, off int64) (int, error) {
			n, err := f.ReadAt(p, off)
			if reads++; reads == after {
				next := extentA
				next.Cycle, next.Salt = 100, 200
				check(t, Prepare(f, testUUID, next))
			}
			return n, err
		}), testUUID, []format.LogExtent{extentA}, ScanOptions{FirstLSN: 1})
		if !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("recycled behind read %d: %v", after, err)
		}
	}
}

// follower reads a log step by step.
type follower struct {
	pos     Position
	entries []Entry
	resumed int
}

func (fo *follower) step(t *testing.T, f disk.File, log []format.LogExtent) {
	t.Helper()
	o := ScanOptions{FirstLSN: 1, NextID: 1, PromisedOnly: true}
	if fo.pos != (Position{}) {
		o.From = &fo.pos
		grown, err := fo.pos.Grown(f, testUUID, log)
		check(t, err)
		defer func(before int) {
			if got := len(fo.entries) > before; got && !grown {
				t.Error("Grown did not see new turns")
			}
		}(len(fo.entries))
	}
	r, err := Scan(f, testUUID, log, o)
	check(t, err)
	if len(r.Damages) > 0 || r.Resumed != (o.From != nil) {
		t.Fatalf("damage %+v, resumed %v", r.Damages, r.Resumed)
	}
	if r.Resumed {
		fo.resumed++
	}
	fo.entries = append(fo.entries, r.Entries...)
	fo.pos = r.End
}

func TestScanFollows(t *testing.T) {
	log := []format.LogExtent{extentA, extentB}
	_, f := memFile(t, 1, log...)
	w := NewWriter(f, testUUID, extentA, 1)
	var fo follower
	var written [][]byte
	synced := format.LSN(0)
	fo.step(t, f, log)
	for i := 0; ; i++ {
		payload := bytes.Repeat([]byte{byte(i), 1}, 1+i*37%900)
		_, _, err := stage(w, synced, uint64(len(written)+1), payload)
		if errors.Is(err, ErrFull) {
			if w.Extent() == extentB {
				break
			}
			w = NewWriter(f, testUUID, extentB, w.Next())
			continue
		}
		check(t, err, w.Write())
		fo.step(t, f, log)
		if len(fo.entries) > len(written) {
			t.Fatalf("frame %d was shown before its sync", w.Next()-1)
		}
		written = append(written, payload)
		check(t, f.Sync())
		synced = w.Next() - 1
		if i%3 == 0 {
			check(t, w.Promise(synced, uint64(len(written)+1)))
			fo.step(t, f, log)
			if len(fo.entries) != len(written) && w.Room() > 0 {
				t.Fatalf("%d of %d promised frames are shown", len(fo.entries), len(written))
			}
		}
	}
	if fo.resumed < 40 || len(fo.entries) < len(written)-1 {
		t.Fatalf("resumed %d times, read %d of %d frames", fo.resumed, len(fo.entries), len(written))
	}
	for i, e := range fo.entries {
		if !bytes.Equal(e.Payload, written[i]) || e.Frame.FirstID != uint64(i+1) {
			t.Errorf("turn %d differs", i+1)
		}
	}
}

func TestPositionElsewhere(t *testing.T) {
	_, f := memFile(t, 1, extentA, extentB)
	w := NewWriter(f, testUUID, extentB, 9)
	_, _, err := stage(w, 0, 1, []byte("nine"))
	check(t, err, w.Write(), w.Promise(9, 2))
	gone := Position{Cycle: 3, At: 12800, LSN: 2, NextID: 1}
	r, err := Scan(f, testUUID, []format.LogExtent{extentB}, ScanOptions{FirstLSN: 9, From: &gone})
	if err != nil || r.Resumed || len(r.Entries) != 1 {
		t.Errorf("a position in an extent that is gone: %+v, %v", r, err)
	}
	if _, err := gone.Grown(f, testUUID, []format.LogExtent{extentB}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("grown: %v", err)
	}
	for _, at := range []int64{0, framesAt(extentB) - 8, framesAt(extentB) + 1, edgeAt(extentB, true) + 8, 1 << 60} {
		p := Position{Cycle: extentB.Cycle, At: at, LSN: 9, NextID: 1}
		if _, err := Scan(f, testUUID, []format.LogExtent{extentB}, ScanOptions{From: &p}); err == nil {
			t.Errorf("a position at %d, outside the extent, was taken", at)
		}
	}
	recycled := Position{Cycle: extentA.Cycle, At: framesAt(extentA), LSN: 9, NextID: 1}
	next := extentA
	next.Cycle = 50
	check(t, Prepare(f, testUUID, next))
	if _, err := recycled.Grown(f, testUUID, []format.LogExtent{extentA}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("an extent in another use: %v", err)
	}
}
