package wal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxdb/format"
)

// smallLog has every kind of frame, payloads with and without padding, a
// rotation, and an unpromised end. One payload holds a log of its own.
func smallLog() (image, []placed) {
	inner := newImage(extentA)
	inner.put(extentA, turns(3, 2, 4), turns(4, 3, 6))
	im := newImage(extentA, extentB)
	frames := im.put(extentA,
		rawFrame{lsn: 1, firstID: 1, count: 3, payload: "three small turns"},
		promise(2, 1, 4),
		rawFrame{lsn: 3, promised: 1, firstID: 4, count: 1, payload: string(inner[framesAt(extentA):nth(extentA, 2)])},
		rawFrame{lsn: 4, promised: 3, firstID: 5, count: 2, payload: strings.Repeat("z", 21)},
	)
	frames = append(frames, im.put(extentB,
		rawFrame{lsn: 5, promised: 4, firstID: 7, count: 1, payload: "behind the rotation"},
		rawFrame{lsn: 6, promised: 5, firstID: 8, count: 1, payload: "known by the promise in the next"},
		rawFrame{lsn: 7, promised: 6, firstID: 9, count: 4, payload: "not promised"},
	)...)
	return im, frames
}

// oneHarmed checks the result of a log in which the frame at index harmed (-1:
// none) no longer is what was written.
func oneHarmed(r *Result, frames []placed, harmed int) error {
	if harmed < 0 {
		if len(r.Damages) > 0 {
			return fmt.Errorf("damage %+v", r.Damages)
		}
		return sameEntries(r, frames)
	}
	var promised format.LSN
	for i, p := range frames {
		if i != harmed {
			promised = max(promised, p.Promised)
		}
	}
	bad := frames[harmed]
	if bad.LSN > promised {
		if len(r.Damages) > 0 || r.TornBytes == 0 || r.LastLSN != bad.LSN-1 {
			return fmt.Errorf("%v: damage %+v, torn %d, last LSN %d", bad, r.Damages, r.TornBytes, r.LastLSN)
		}
		return sameEntries(r, frames[:harmed])
	}
	if len(r.Damages) != 1 {
		return fmt.Errorf("%v is promised, damage %+v", bad, r.Damages)
	}
	if d := r.Damages[0]; d.FirstID != bad.FirstID || d.Count != bad.Count || d.Offset != bad.at || d.Offset+d.Length != bad.padded() {
		return fmt.Errorf("%v of %d turns from id %d: damage %+v", bad, bad.Count, bad.FirstID, d)
	}
	return sameEntries(r, slices.Delete(slices.Clone(frames), harmed, harmed+1))
}

// frameAt returns the frame whose header or payload holds a byte, or -1:
// padding and the space behind the frames are not covered by any sum.
func frameAt(frames []placed, at int64) int {
	return slices.IndexFunc(frames, func(p placed) bool { return at >= p.at && at < p.end() })
}

// flipEveryBit returns the first complaint about a log with one bit flipped.
func flipEveryBit() error {
	im, frames := smallLog()
	log := []format.LogExtent{extentA, extentB}
	for _, x := range log {
		last := x.Offset
		for _, p := range frames {
			if p.at < x.Offset+x.Length {
				last = max(last, p.padded())
			}
		}
		for at := framesAt(x); at < last+100; at++ {
			for bit := range 8 {
				im[at] ^= 1 << bit
				r, err := Scan(bytes.NewReader(im), testUUID, log, ScanOptions{FirstLSN: 1, NextID: 1})
				if err == nil {
					err = oneHarmed(r, frames, frameAt(frames, at))
				}
				im[at] ^= 1 << bit
				if err != nil {
					return fmt.Errorf("bit %d of the byte at %d flipped: %w", bit, at, err)
				}
			}
		}
	}
	return nil
}

func TestEveryBitFlip(t *testing.T) { check(t, flipEveryBit()) }

func TestEveryEdgeBitFlip(t *testing.T) {
	im, _ := smallLog()
	for _, from := range []int64{extentA.Offset, edgeAt(extentA, true), extentB.Offset, edgeAt(extentB, true)} {
		for at := from; at < from+64; at++ {
			for bit := range 8 {
				im[at] ^= 1 << bit
				if _, err := Scan(bytes.NewReader(im), testUUID, []format.LogExtent{extentA, extentB}, ScanOptions{}); err == nil {
					t.Errorf("bit %d of the byte at %d: not noticed", bit, at)
				}
				im[at] ^= 1 << bit
			}
		}
	}
}

// A log that stops at any byte is its frames up to there: no promise covers
// what was not written when it was made.
func TestEveryPrefix(t *testing.T) {
	whole, frames := smallLog()
	inA := frames[:4]
	for end := framesAt(extentA); end <= inA[3].padded(); end++ {
		im := slices.Clone(whole)
		clear(im[end:edgeAt(extentA, true)])
		clear(im[framesAt(extentB):edgeAt(extentB, true)])
		kept := 0
		for kept < len(inA) && bytes.Equal(im[inA[kept].at:inA[kept].end()], whole[inA[kept].at:inA[kept].end()]) {
			kept++
		}
		r := im.scan(t, ScanOptions{FirstLSN: 1, NextID: 1}, extentA, extentB)
		if err := sameEntries(r, inA[:kept]); err != nil || len(r.Damages) > 0 {
			t.Fatalf("%d bytes: %v, damage %+v", end-framesAt(extentA), err, r.Damages)
		}
		torn := int64(len(bytes.TrimRight(im[r.End.At:max(end, r.End.At)], "\x00")))
		if r.TornBytes != torn || torn > 0 && r.TornAt != r.End.At {
			t.Fatalf("%d bytes: torn %d from %d, want %d from %d", end-framesAt(extentA), r.TornBytes, r.TornAt, torn, r.End.At)
		}
	}
}

// A ctxdb file kept as a turn holds valid frames of its own, even of this very
// cycle. They are in another place.
func TestLogInsideAPayload(t *testing.T) {
	inner, innerFrames := smallLog()
	payload := string(inner[extentA.Offset:nth(extentA, 20)])
	for _, shift := range []int{0, 8, 16, 24} {
		im := newImage(extentA, extentB)
		frames := im.put(extentA,
			rawFrame{lsn: 1, firstID: 1, count: 1, payload: strings.Repeat("s", 8+shift)},
			rawFrame{lsn: 2, firstID: 2, count: 1, payload: payload},
			rawFrame{lsn: 3, promised: 2, firstID: 3, count: 1, payload: "behind"},
		)
		r := im.scan(t, ScanOptions{FirstLSN: 1, NextID: 1}, extentA, extentB)
		check(t, sameEntries(r, frames))
		im.flip(frames[1].at + 20) // its header: now the payload is searched
		r = im.scan(t, ScanOptions{FirstLSN: 1, NextID: 1}, extentA, extentB)
		check(t, oneHarmed(r, frames, 1))
	}
	if len(innerFrames) == 0 || !strings.Contains(payload, "three small turns") {
		t.Fatal("the payload holds no log")
	}
}
