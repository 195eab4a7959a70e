package segment_test

import (
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/segment"
)

// TestLargeIndexIsNotCopied: what a file says of the size of its index does not
// decide how much memory is taken: a large one is read where it lies.
func TestLargeIndexIsNotCopied(t *testing.T) {
	turns := make([]segment.Turn, 40_000)
	for i := range turns {
		turns[i] = packed(t, format.Turn{Role: "user", Content: fmt.Appendf(nil, "turn %d of very many short ones", i)})
	}
	b := build(t, 1, turns, segment.BuildOptions{BlockBytes: 1, DictionaryBytes: 2048})
	caches := segment.NewDecoderCache(1 << 30)
	s := opened(t, b, 4096, segment.OpenOptions{Decoders: caches})
	for id := uint64(1); id <= uint64(len(turns)); id += 997 {
		got, err := s.Turn(id)
		if err != nil || string(got.Content) != string(turns[id-1].Content) {
			t.Fatalf("turn %d: %v", id, err)
		}
	}
	if n := caches.Bytes(); n == 0 || n > 400<<10 {
		t.Errorf("%d bytes are kept of a segment of %d blocks", n, len(turns))
	}
}
