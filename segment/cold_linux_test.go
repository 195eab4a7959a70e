package segment_test

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"ctxdb/segment"
)

// TestColdFaultReadsItsOwnPages: a turn that is not in memory costs the pages
// of its block and of the index on the way, whatever the disk reads ahead.
func TestColdFaultReadsItsOwnPages(t *testing.T) {
	turns := generated(t, 1, 800)
	b := build(t, 1, turns, segment.BuildOptions{})
	f, path := onDisk(t, b.Bytes, 4096)
	e := b.Entry
	e.Offset = 4096
	if cold(t, path); resident(t, path) > 0 {
		t.Skip("the file system keeps all of a file in memory")
	}
	s := segment.Open(f, path, testUUID, e, segment.OpenOptions{})
	defer s.Close()
	if _, err := s.Turn(uint64(len(turns) / 2)); err != nil {
		t.Fatal(err)
	}
	// Footer, section table, content index, dictionary, block: each may straddle.
	all := (len(b.Bytes) + 4095) / 4096
	got := resident(t, path)
	dictionary := 112 / 4
	t.Logf("%d of %d pages", got, all)
	if got > dictionary+16 || got == 0 {
		t.Errorf("one turn of %d brought %d of %d pages in", len(turns), got, all)
	}
}

// cold drops a file from the page cache.
func cold(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Skip("the page cache can't be dropped: ", err)
	}
}

// resident counts the pages of a file that are in the page cache.
func resident(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	pages := make([]byte, (len(m)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(len(m)), uintptr(unsafe.Pointer(unsafe.SliceData(pages)))); errno != 0 {
		t.Skip("residence can't be asked: ", errno)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}
