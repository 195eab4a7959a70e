package zdict_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/segment/zdict"
)

// FuzzRoundTrip: whatever the dictionary's content, the samples and the block, a
// decoder gets the block back.
func FuzzRoundTrip(f *testing.F) {
	rng := rand.New(rand.NewPCG(seed, 4))
	for _, kind := range []string{"text", "mixed", "numbers", "one byte", "random"} {
		b := blocksOf(rng, kind, 3, 600)
		f.Add(b[0], b[1], b[2])
	}
	f.Fuzz(func(t *testing.T, content, sample, block []byte) {
		if len(content) > 1<<16 || len(sample) > 1<<16 || len(block) > zdict.MaxBlock {
			t.Skip("larger than is tried here")
		}
		e, err := zdict.Train(9, content, [][]byte{sample})
		if err != nil {
			if len(content) >= 8 {
				t.Fatal(err)
			}
			return
		}
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDicts(e.Dictionary()), zstd.WithDecoderMaxMemory(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for _, b := range [][]byte{block, sample, content} {
			if len(b) > zdict.MaxBlock {
				continue
			}
			frame := e.EncodeAll(b, nil)
			if got, err := d.DecodeAll(frame, nil); err != nil || !bytes.Equal(got, b) {
				t.Fatalf("%d bytes came back as %d, %v", len(b), len(got), err)
			}
		}
	})
}
