package wal

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ctxdb/format"
)

// Frames of 64+16 bytes: the n-th of an extent lies at framesAt + 80n.
const (
	sixteen = "sixteen bytes!!!"
	stride  = format.FrameHeaderSize + 16
)

func nth(x format.LogExtent, n int64) int64 { return framesAt(x) + n*stride }

// turns is an ordinary frame of two turns.
func turns(lsn, promised format.LSN, firstID uint64) rawFrame {
	return rawFrame{lsn: lsn, promised: promised, firstID: firstID, count: 2, payload: sixteen}
}

func promise(lsn, promised format.LSN, nextID uint64) rawFrame {
	return rawFrame{lsn: lsn, promised: promised, firstID: nextID}
}

func TestScan(t *testing.T) {
	const tail = format.MinLogExtent - 2*format.LogEdge
	body := func(x format.LogExtent, n int64) func(image) {
		return func(im image) { im.flip(nth(x, n) + format.FrameHeaderSize + 3) }
	}
	head := func(x format.LogExtent, n int64) func(image) {
		return func(im image) { im.flip(nth(x, n) + 17) }
	}
	wipe := func(from, to int64) func(image) { return func(im image) { clear(im[from:to]) } }
	for _, c := range []struct {
		name    string
		a, b    []rawFrame
		harm    func(image)
		promise bool // PromisedOnly
		want    []format.LSN
		last    format.LSN
		nextID  uint64
		tornAt  int64
		torn    int64
		damage  []Damage
	}{
		{name: "empty", last: 0, nextID: 1},
		{name: "whole", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), promise(3, 2, 5)}, want: []format.LSN{1, 2}, last: 3, nextID: 5},
		{name: "torn body", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3)}, harm: body(extentA, 1),
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: stride},
		{name: "torn header", a: []rawFrame{turns(1, 0, 1), turns(2, 1, 3)}, harm: head(extentA, 1),
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: stride},
		{name: "torn promise", a: []rawFrame{turns(1, 0, 1), promise(2, 1, 3)}, harm: head(extentA, 1),
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: 64},
		{name: "ghost behind a hole", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 0, 5)}, harm: wipe(nth(extentA, 1), nth(extentA, 2)),
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: 2 * stride},
		{name: "ghost behind a torn body", a: []rawFrame{turns(1, 0, 1), turns(2, 1, 3), turns(3, 1, 5)}, harm: body(extentA, 1),
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: 2 * stride},
		{name: "ghosts in the next extent", a: []rawFrame{turns(1, 0, 1), turns(2, 1, 3)}, b: []rawFrame{turns(3, 1, 5)}, harm: body(extentA, 1),
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: 2 * stride},
		{name: "nothing but a ghost in the next extent", b: []rawFrame{turns(2, 0, 3)}, last: 0, nextID: 1, tornAt: framesAt(extentB), torn: stride},
		{name: "damaged body", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 2, 5)}, harm: body(extentA, 1),
			want: []format.LSN{1, 3}, last: 3, nextID: 7, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1), Length: stride}}},
		{name: "damaged header", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 2, 5)}, harm: head(extentA, 1),
			want: []format.LSN{1, 3}, last: 3, nextID: 7, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1), Length: stride}}},
		{name: "damaged first frame", a: []rawFrame{turns(1, 0, 1), turns(2, 1, 3)}, harm: head(extentA, 0),
			want: []format.LSN{2}, last: 2, nextID: 5, damage: []Damage{{FirstID: 1, Count: 2, Offset: nth(extentA, 0), Length: stride}}},
		{name: "damaged last frame, and its witness", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), promise(3, 2, 5)}, harm: head(extentA, 1),
			want: []format.LSN{1}, last: 3, nextID: 5, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1), Length: stride}}},
		{name: "damaged promise below a promise", a: []rawFrame{turns(1, 0, 1), promise(2, 1, 3), turns(3, 2, 3)}, harm: head(extentA, 1),
			want: []format.LSN{1, 3}, last: 3, nextID: 5, damage: []Damage{{FirstID: 3, Count: 0, Offset: nth(extentA, 1), Length: 64}}},
		{name: "several headers", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 0, 5), turns(4, 3, 7)},
			harm: wipe(nth(extentA, 1)+8, nth(extentA, 3)-8), want: []format.LSN{1, 4}, last: 4, nextID: 9,
			damage: []Damage{{FirstID: 3, Count: 4, Offset: nth(extentA, 1), Length: 2 * stride}}},
		{name: "behind damage what is next counts", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 2, 5), turns(4, 2, 7)}, harm: head(extentA, 1),
			want: []format.LSN{1, 3, 4}, last: 4, nextID: 9, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1), Length: stride}}},
		{name: "behind damage a ghost does not", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 2, 5), turns(4, 2, 7)},
			harm: wipe(nth(extentA, 1), nth(extentA, 3)), want: []format.LSN{1}, last: 2, nextID: 7, tornAt: nth(extentA, 3), torn: stride,
			damage: []Damage{{FirstID: 3, Count: 4, Offset: nth(extentA, 1), Length: 2 * stride}}},
		{name: "torn behind damage", a: []rawFrame{turns(1, 0, 1), turns(2, 1, 3), turns(3, 1, 5)},
			harm: func(im image) { body(extentA, 0)(im); body(extentA, 2)(im) }, want: []format.LSN{2}, last: 2, nextID: 5,
			tornAt: nth(extentA, 2), torn: stride, damage: []Damage{{FirstID: 1, Count: 2, Offset: nth(extentA, 0), Length: stride}}},
		{name: "rotation", a: []rawFrame{turns(1, 0, 1)}, b: []rawFrame{turns(2, 1, 3)}, want: []format.LSN{1, 2}, last: 2, nextID: 5},
		{name: "damage before rotation", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3)}, b: []rawFrame{turns(3, 2, 5)}, harm: head(extentA, 1),
			want: []format.LSN{1, 3}, last: 3, nextID: 7, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1), Length: stride}}},
		{name: "damage behind rotation", a: []rawFrame{turns(1, 0, 1)}, b: []rawFrame{turns(2, 1, 3), turns(3, 2, 5)}, harm: head(extentB, 0),
			want: []format.LSN{1, 3}, last: 3, nextID: 7, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentB, 0), Length: stride}}},
		{name: "damage on both sides of rotation", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3)}, b: []rawFrame{turns(3, 2, 5), turns(4, 3, 7)},
			harm: func(im image) { head(extentA, 1)(im); head(extentB, 0)(im) }, want: []format.LSN{1, 4}, last: 4, nextID: 9,
			damage: []Damage{{FirstID: 3, Count: 4, Offset: nth(extentA, 1), Length: stride}, {Offset: nth(extentB, 0), Length: stride}}},
		{name: "nothing left of a frame before rotation", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3)}, b: []rawFrame{turns(3, 2, 5)},
			harm: wipe(nth(extentA, 1), nth(extentA, 2)), want: []format.LSN{1, 3}, last: 3, nextID: 7,
			damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1)}}},
		{name: "unpromised ids that do not follow", a: []rawFrame{turns(1, 0, 1), turns(2, 1, 4)},
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: stride},
		{name: "promised ids with a gap", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 4), promise(3, 2, 6)},
			want: []format.LSN{1, 2}, last: 3, nextID: 6, damage: []Damage{{FirstID: 3, Count: 1, Offset: nth(extentA, 1), Length: 64}}},
		{name: "promised ids given twice", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 1), turns(3, 2, 3)},
			want: []format.LSN{1, 3}, last: 3, nextID: 5, damage: []Damage{{FirstID: 3, Count: 0, Offset: nth(extentA, 1), Length: stride}}},
		{name: "LSN given twice", a: []rawFrame{turns(1, 0, 1), turns(1, 0, 3)}, want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: stride},
		{name: "LSN skipped", a: []rawFrame{turns(1, 0, 1), turns(3, 0, 3)}, want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: stride},
		{name: "another salt", a: []rawFrame{turns(1, 0, 1), {lsn: 2, firstID: 3, count: 2, payload: sixteen, salt: 99}},
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: stride},
		{name: "a frame in another place", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3)},
			harm: func(im image) {
				copy(im[nth(extentA, 2):], im[nth(extentA, 1):nth(extentA, 2)])
				clear(im[nth(extentA, 1):nth(extentA, 2)])
			},
			want: []format.LSN{1}, last: 1, nextID: 3, tornAt: nth(extentA, 1), torn: 2 * stride},
		{name: "optional frames", a: []rawFrame{turns(1, 0, 1), {typ: 200, lsn: 2, firstID: 3, payload: sixteen}, turns(3, 0, 3)},
			want: []format.LSN{1, 3}, last: 3, nextID: 5},
		{name: "full to the brim", a: []rawFrame{{lsn: 1, firstID: 1, count: 2, payload: strings.Repeat("x", tail-64)}}, b: []rawFrame{turns(2, 1, 3)},
			want: []format.LSN{1, 2}, last: 2, nextID: 5},
		{name: "a live writer", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 1, 5)}, promise: true, want: []format.LSN{1}, last: 1, nextID: 3},
		{name: "a live writer with damage", a: []rawFrame{turns(1, 0, 1), turns(2, 0, 3), turns(3, 2, 5)}, promise: true, harm: body(extentA, 1),
			want: []format.LSN{1}, last: 2, nextID: 5, damage: []Damage{{FirstID: 3, Count: 2, Offset: nth(extentA, 1), Length: stride}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			im := newImage(extentA, extentB)
			written := append(im.put(extentA, c.a...), im.put(extentB, c.b...)...)
			if c.harm != nil {
				c.harm(im)
			}
			r := im.scan(t, ScanOptions{FirstLSN: 1, NextID: 1, PromisedOnly: c.promise}, extentA, extentB)
			if !slices.Equal(lsns(r), c.want) || r.LastLSN != c.last || r.NextID != c.nextID {
				t.Errorf("frames %v to LSN %d, next id %d; want %v, %d, %d", lsns(r), r.LastLSN, r.NextID, c.want, c.last, c.nextID)
			}
			if r.TornAt != c.tornAt || r.TornBytes != c.torn {
				t.Errorf("torn: %d bytes from %d, want %d from %d", r.TornBytes, r.TornAt, c.torn, c.tornAt)
			}
			for i := range r.Damages {
				t.Log(r.Damages[i].Detail)
				r.Damages[i].Detail = ""
			}
			if !slices.Equal(r.Damages, c.damage) {
				t.Errorf("damage %+v, want %+v", r.Damages, c.damage)
			}
			for _, e := range r.Entries {
				i := slices.IndexFunc(written, func(p placed) bool { return p.LSN == e.Frame.LSN && p.at == e.At })
				if i < 0 {
					t.Errorf("frame %d was never written at %d", e.Frame.LSN, e.At)
					continue
				}
				check(t, sameEntry(e, written[i]))
			}
		})
	}
}

func TestScanFirstLSN(t *testing.T) {
	im := newImage(extentA)
	im.put(extentA, turns(41, 40, 100), turns(42, 40, 102))
	if r := im.scan(t, ScanOptions{FirstLSN: 41, NextID: 100}, extentA); len(r.Entries) != 2 || r.Promised != 40 {
		t.Errorf("frames %v, promise %d", lsns(r), r.Promised)
	}
	x := extentA
	x.FirstLSN = 41
	if r := im.scan(t, ScanOptions{}, x); len(r.Entries) != 2 || r.NextID != 104 {
		t.Errorf("frames %v, next id %d", lsns(r), r.NextID)
	}
	if _, err := Scan(bytes.NewReader(im), testUUID, []format.LogExtent{x}, ScanOptions{FirstLSN: 40}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("an extent that begins with another LSN: %v", err)
	}
	// Frame 41 promises 40, which is missing: what it held is known by the ids.
	r := im.scan(t, ScanOptions{FirstLSN: 40, NextID: 98}, extentA)
	if len(r.Entries) != 2 || len(r.Damages) != 1 || r.Damages[0].FirstID != 98 || r.Damages[0].Count != 2 {
		t.Errorf("frames %v, damage %+v", lsns(r), r.Damages)
	}
}

func TestScanEdges(t *testing.T) {
	stale := extentA
	stale.Cycle--
	for name, harm := range map[string]func(image){
		"header damaged":         func(im image) { im.flip(extentA.Offset + 9) },
		"trailer damaged":        func(im image) { im.flip(edgeAt(extentB, true) + 60) },
		"header of a cycle ago":  func(im image) { copy(im[stale.Offset:], format.EncodeLogEdge(testUUID, stale, false)) },
		"trailer of a cycle ago": func(im image) { copy(im[edgeAt(stale, true):], format.EncodeLogEdge(testUUID, stale, true)) },
		"zeros":                  func(im image) { clear(im[extentB.Offset:]) },
	} {
		im := newImage(extentA, extentB)
		im.put(extentA, turns(1, 0, 1))
		harm(im)
		log := []format.LogExtent{extentA, extentB}
		if _, err := Scan(bytes.NewReader(im), testUUID, log, ScanOptions{}); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := Scan(bytes.NewReader(im), testUUID, log, ScanOptions{NoEdges: true}); err != nil || len(r.Entries) != 1 {
			t.Errorf("%s, not looked at: %v", name, err)
		}
	}
	for _, x := range []format.LogExtent{{}, {Offset: 12288, Length: 1 << 40}, {Offset: 12289, Length: 16384}, {Offset: -4096, Length: 16384}, {Offset: 12288, Length: 4096}} {
		if _, err := Scan(bytes.NewReader(nil), testUUID, []format.LogExtent{x}, ScanOptions{}); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("extent %+v: %v", x, err)
		}
	}
}

// Only bytes that were really read can be torn.
func TestScanFailedReads(t *testing.T) {
	im := newImage(extentA, extentB)
	im.put(extentA, turns(1, 0, 1))
	log := []format.LogExtent{extentA, extentB}
	for reads := range 100 {
		n := 0
		_, err := Scan(readerAt(func(p []byte, off int64) (int, error) {
			if n++; n == reads+1 {
				return len(p) / 2, syscall.EIO
			}
			return bytes.NewReader(im).ReadAt(p, off)
		}), testUUID, log, ScanOptions{})
		if n <= reads {
			if reads < 10 || err != nil {
				t.Fatalf("%d reads, %v", reads, err)
			}
			break
		}
		if !errors.Is(err, syscall.EIO) || errors.Is(err, format.ErrCorrupt) {
			t.Errorf("read %d failed: %v", n, err)
		}
	}
	for _, cut := range []int{0, 12288, 12300, 20000, int(extentB.Offset), len(im) - 513, len(im) - 1} {
		if _, err := Scan(bytes.NewReader(im[:cut]), testUUID, log, ScanOptions{}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("file of %d bytes: %v", cut, err)
		}
	}
}
