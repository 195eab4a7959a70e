package wal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

var testUUID = format.UUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// Two extents of the smallest size, side by side.
var (
	extentA = format.LogExtent{Offset: 12288, Length: format.MinLogExtent, Cycle: 7, Salt: 0xa11ce_5a17_0001}
	extentB = format.LogExtent{Offset: 12288 + format.MinLogExtent, Length: format.MinLogExtent, Cycle: 8, Salt: 0xb0b_5a17_0002}
)

// rawFrame is a frame as a test wants it, whether a writer would make it or not.
type rawFrame struct {
	typ            format.FrameType // 0: turns, or a promise where count is 0
	lsn, promised  format.LSN
	firstID, count uint64
	payload        string
	at             int64  // 0: behind the one before
	salt           uint64 // 0: that of the extent
}

// placed is where a frame of an image is.
type placed struct {
	format.Frame
	at      int64
	payload []byte
}

func (p placed) end() int64     { return p.at + format.FrameHeaderSize + int64(p.Length) }
func (p placed) padded() int64  { return p.at + format.FrameSize(int(p.Length)) }
func (p placed) isTurns() bool  { return p.Type == format.FrameTurns }
func (p placed) String() string { return fmt.Sprintf("frame %d at %d", p.LSN, p.at) }

// image is the bytes of a file with log extents.
type image []byte

func newImage(log ...format.LogExtent) image {
	var end int64
	for _, x := range log {
		end = max(end, x.Offset+x.Length)
	}
	im := make(image, end)
	for _, x := range log {
		copy(im[x.Offset:], format.EncodeLogEdge(testUUID, x, false))
		copy(im[edgeAt(x, true):], format.EncodeLogEdge(testUUID, x, true))
	}
	return im
}

// put lays frames out in an extent, from its beginning.
func (im image) put(x format.LogExtent, frames ...rawFrame) (list []placed) {
	at := framesAt(x)
	for _, r := range frames {
		f := format.Frame{Type: r.typ, Length: uint32(len(r.payload)), LSN: r.lsn, Promised: r.promised, FirstID: r.firstID, Count: r.count, Salt: r.salt}
		if f.Type == 0 {
			f.Type = format.FrameTurns
			if r.count == 0 {
				f.Type = format.FramePromise
			}
		}
		if f.Salt == 0 {
			f.Salt = x.Salt
		}
		if r.at != 0 {
			at = r.at
		}
		copy(im[at+format.FrameHeaderSize:], r.payload)
		format.PutFrame(im[at:], testUUID, at, &f)
		list = append(list, placed{Frame: f, at: at, payload: []byte(r.payload)})
		at += format.FrameSize(len(r.payload))
	}
	return list
}

func (im image) flip(at int64) { im[at] ^= 0x10 }

func (im image) scan(t testing.TB, o ScanOptions, log ...format.LogExtent) *Result {
	t.Helper()
	r, err := Scan(bytes.NewReader(im), testUUID, log, o)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return r
}

func lsns(r *Result) (list []format.LSN) {
	for _, e := range r.Entries {
		list = append(list, e.Frame.LSN)
	}
	return list
}

// sameEntry compares an entry with what was written.
func sameEntry(e Entry, p placed) error {
	if e.Frame != p.Frame || e.At != p.at || !bytes.Equal(e.Payload, p.payload) {
		return fmt.Errorf("entry %+v at %d differs from %v %+v", e.Frame, e.At, p, p.Frame)
	}
	return nil
}

// sameEntries compares all entries with the turns among the frames.
func sameEntries(r *Result, frames []placed) error {
	frames = slices.DeleteFunc(slices.Clone(frames), func(p placed) bool { return !p.isTurns() })
	if len(r.Entries) != len(frames) {
		return fmt.Errorf("found frames %v, want %v", lsns(r), frames)
	}
	for i, e := range r.Entries {
		if err := sameEntry(e, frames[i]); err != nil {
			return err
		}
	}
	return nil
}

// memFile makes a file of a crashable file system with prepared, durable extents.
func memFile(t testing.TB, seed uint64, log ...format.LogExtent) (*disk.Mem, disk.File) {
	t.Helper()
	m := disk.NewMem(seed)
	tmp, name, err := m.CreateTemp("log")
	if err != nil {
		t.Fatal(err)
	}
	check(t, tmp.Sync(), tmp.Close(), m.Link(name, "log"), m.Remove(name), m.SyncDir("log"))
	f, err := m.Open("log", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range log {
		check(t, Prepare(f, testUUID, x))
	}
	check(t, f.Sync())
	return m, f
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// stage stages a payload as one frame with one turn.
func stage(w *Writer, promised format.LSN, id uint64, payload []byte) (format.LSN, []byte, error) {
	return w.Stage(promised, id, 1, len(payload), func(dst []byte) []byte { return append(dst, payload...) })
}

// readerAt is a reader made of a function.
type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

var _ io.ReaderAt = readerAt(nil)
