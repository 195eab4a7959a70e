package segment_test

import (
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/segment"
)

// TestLevelWithoutDictionary: the level is that of content blocks, with a
// dictionary or without.
func TestLevelWithoutDictionary(t *testing.T) {
	turns := generated(t, 4, 40)
	for _, dictionary := range []int{-1, 32 << 10} {
		fast := build(t, 1, turns, segment.BuildOptions{DictionaryBytes: dictionary, Level: zstd.SpeedFastest})
		usual := build(t, 1, turns, segment.BuildOptions{DictionaryBytes: dictionary})
		if len(fast.Bytes) <= len(usual.Bytes) {
			t.Errorf("dictionary %d: %d bytes at the fastest level, %d at the usual one", dictionary, len(fast.Bytes), len(usual.Bytes))
		}
	}
}
