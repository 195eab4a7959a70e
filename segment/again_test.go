package segment_test

import (
	"bytes"
	"runtime"
	"testing"

	"ctxdb/segment"
)

// Encoders are used again. What they compressed before leaves no trace: the same
// turns give the same bytes, from fresh encoders too.
func TestSameTurnsSameBytes(t *testing.T) {
	first := build(t, 1, generated(t, 3, 120), segment.BuildOptions{})
	for seed := range uint64(3) {
		build(t, 1, generated(t, 10+seed, 40*int(seed+1)), segment.BuildOptions{})
		if again := build(t, 1, generated(t, 3, 120), segment.BuildOptions{}); !bytes.Equal(again.Bytes, first.Bytes) {
			t.Fatalf("after %d others: %d bytes differ from %d", seed+1, len(again.Bytes), len(first.Bytes))
		}
	}
	runtime.GC()
	runtime.GC() // a pool keeps what it has for one more collection
	if again := build(t, 1, generated(t, 3, 120), segment.BuildOptions{}); !bytes.Equal(again.Bytes, first.Bytes) {
		t.Error("fresh encoders give other bytes")
	}
}

// However many goroutines compress, the bytes are the same.
func TestCrewChangesNothing(t *testing.T) {
	turns := generated(t, 5, 400)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone := build(t, 1, turns, segment.BuildOptions{})
	if alone.Entry.Turns != 400 {
		t.Fatal("too few")
	}
	for _, n := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(n)
		if several := build(t, 1, turns, segment.BuildOptions{}); !bytes.Equal(alone.Bytes, several.Bytes) {
			t.Errorf("%d at once: other bytes", n)
		}
	}
}
