package segment_test

import (
	"sync/atomic"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/segment"
)

// countedReads counts the reads of a file, and their bytes.
type countedReads struct {
	disk.File
	calls, bytes atomic.Int64
}

func (f *countedReads) ReadAt(b []byte, off int64) (int, error) {
	f.calls.Add(1)
	f.bytes.Add(int64(len(b)))
	return f.File.ReadAt(b, off)
}

// TestFaultIsOneRead: once a segment is in use, the fault of a turn of one block
// reads that block, and nothing else.
func TestFaultIsOneRead(t *testing.T) {
	turns := generated(t, 6, 600)
	counted := &countedReads{}
	s := openedThrough(t, turns, func(f disk.File) disk.File { counted.File = f; return counted })
	if _, err := s.Turn(1); err != nil {
		t.Fatal(err)
	}
	single := 0
	for i := range turns {
		id := uint64(i) + 1
		where, err := s.Where(id)
		if err != nil {
			t.Fatal(err)
		}
		if format.Parts(turns[i].Content) > 1 || where[0].Codec != format.CodecZstdDict {
			continue
		}
		single++
		calls, bytes := counted.calls.Load(), counted.bytes.Load()
		if _, err := s.AppendContent(nil, id); err != nil {
			t.Fatal(err)
		}
		if n, size := counted.calls.Load()-calls, counted.bytes.Load()-bytes; n != 1 || size != int64(where[0].Stored)+format.BlockHeaderSize {
			t.Errorf("turn %d: %d reads of %d bytes, its block has %d", id, n, size, where[0].Stored)
		}
	}
	if single < 50 {
		t.Errorf("only %d turns have a block of their own", single)
	}
}

// TestSpoiledIndexCopy: a copy of index pages that went wrong is a hint that leads
// nowhere: the pages themselves are asked then.
func TestSpoiledIndexCopy(t *testing.T) {
	turns := generated(t, 7, 2000)
	spoiler := &spoiledReads{}
	s := openedThrough(t, turns, func(f disk.File) disk.File { spoiler.File = f; return spoiler })
	for i := range turns { // the first one makes the copy
		got, err := s.Turn(uint64(i) + 1)
		if err != nil || string(got.Content) != string(turns[i].Content) {
			t.Fatalf("turn %d: %v", i+1, err)
		}
	}
	if spoiler.spoiled != 1 {
		t.Errorf("%d copies were spoiled: the test tests nothing", spoiler.spoiled)
	}
}

// openedThrough opens a segment of the turns, without a mapping, through what wrap
// makes of its file.
func openedThrough(t *testing.T, turns []segment.Turn, wrap func(disk.File) disk.File) *segment.Segment {
	t.Helper()
	b := build(t, 1, turns, segment.BuildOptions{})
	f, path := onDisk(t, b.Bytes, 4096)
	e := b.Entry
	e.Offset = 4096
	s := segment.Open(wrap(f), path, testUUID, e, segment.OpenOptions{NoMap: true})
	t.Cleanup(s.Close)
	return s
}

// spoiledReads turns bits in each read of several index pages: single ones are
// verified, those that are copied together are not.
type spoiledReads struct {
	disk.File
	spoiled int
}

func (f *spoiledReads) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if n > format.IndexPageSize && n%format.IndexPageSize == 0 {
		f.spoiled++
		for i := 32; i < n; i += 16 {
			b[i] ^= 0x55
		}
	}
	return n, err
}
