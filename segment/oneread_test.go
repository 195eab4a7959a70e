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
	b := build(t, 1, turns, segment.BuildOptions{})
	f, path := onDisk(t, b.Bytes, 4096)
	counted := &countedReads{File: f}
	e := b.Entry
	e.Offset = 4096
	s := segment.Open(counted, path, testUUID, e, segment.OpenOptions{NoMap: true})
	defer s.Close()
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
	turns := generated(t, 7, 300)
	b := build(t, 1, turns, segment.BuildOptions{})
	f, path := onDisk(t, b.Bytes, 4096)
	spoiler := &spoiledReads{File: f}
	e := b.Entry
	e.Offset = 4096
	s := segment.Open(spoiler, path, testUUID, e, segment.OpenOptions{NoMap: true})
	defer s.Close()
	spoiler.spoil.Store(true)
	_, _ = s.Turn(1) // makes the copy
	spoiler.spoil.Store(false)
	for i := range turns {
		got, err := s.Turn(uint64(i) + 1)
		if err != nil || string(got.Content) != string(turns[i].Content) {
			t.Fatalf("turn %d: %v", i+1, err)
		}
	}
}

// spoiledReads turns a bit in each read of whole index pages.
type spoiledReads struct {
	disk.File
	spoil atomic.Bool
}

func (f *spoiledReads) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if f.spoil.Load() && n > 0 && n%format.IndexPageSize == 0 {
		for i := 32; i < n; i += 16 {
			b[i] ^= 0x55
		}
	}
	return n, err
}
