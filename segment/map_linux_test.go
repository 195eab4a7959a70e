package segment_test

import (
	"os"
	"strings"
	"testing"

	"ctxdb/segment"
)

// mappings counts how often a file is mapped into this process.
func mappings(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), path)
}

func TestLastReferenceUnmaps(t *testing.T) {
	b, _ := small(t)
	f, path := onDisk(t, b.Bytes, 4096)
	e := b.Entry
	e.Offset = 4096
	s := segment.Open(f, path, testUUID, e, segment.OpenOptions{})
	if n := mappings(t, path); n != 0 {
		t.Fatalf("mapped %d times before the first read", n)
	}
	if _, err := s.Turn(1); err != nil {
		t.Fatal(err)
	}
	if n := mappings(t, path); n != 1 {
		t.Fatalf("mapped %d times", n)
	}
	s.Acquire()
	s.Close()
	if n := mappings(t, path); n != 1 {
		t.Fatalf("mapped %d times while a reference is held", n)
	}
	s.Release()
	if n := mappings(t, path); n != 0 {
		t.Fatalf("mapped %d times after the last reference", n)
	}
}
