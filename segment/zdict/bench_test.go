package zdict_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/fuzz/trial"
	"ctxdb/segment/zdict"
)

// benchText is a genuine session's file where there is one, else made text.
func benchText(b *testing.B) []byte {
	if dir, ok := trial.FindData(); ok {
		text, err := os.ReadFile(filepath.Join(dir, "locomo", "locomo5-dev.json"))
		if err != nil {
			b.Fatal(err)
		}
		b.Log("genuine text")
		return text
	}
	b.Log("made text")
	return madeText(rand.New(rand.NewPCG(seed, 6)), 2<<20)
}

// BenchmarkBlocks compresses blocks of 4 KiB with a dictionary of 112 KiB, by
// this package and by the library with raw content, its way to use one.
func BenchmarkBlocks(b *testing.B) {
	blocks := slices.Collect(slices.Chunk(benchText(b), 4096))
	var content []byte
	var samples [][]byte
	for i := 0; i < len(blocks) && len(content) < 112<<10; i += max(len(blocks)/112, 1) {
		content = append(content, blocks[i][:1024]...)
		samples = append(samples, blocks[(i+1)%len(blocks)])
	}
	e, err := zdict.Train(1, content, samples)
	if err != nil {
		b.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false), zstd.WithEncoderDictRaw(0, content))
	if err != nil {
		b.Fatal(err)
	}
	own, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDicts(e.Dictionary()))
	if err != nil {
		b.Fatal(err)
	}
	library, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDictRaw(0, content))
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]struct {
		encode func(src, dst []byte) []byte
		d      *zstd.Decoder
	}{"own": {e.EncodeAll, own}, "library": {z.EncodeAll, library}} {
		b.Run("encode/by="+name, func(b *testing.B) { benchEncode(b, blocks, c.encode) })
		b.Run("decode/by="+name, func(b *testing.B) { benchDecode(b, blocks, c.encode, c.d) })
	}
}

func benchEncode(b *testing.B, blocks [][]byte, encode func(src, dst []byte) []byte) {
	var out []byte
	raw, size := 0, 0
	b.SetBytes(4096)
	for i := 0; b.Loop(); i++ {
		block := blocks[i%len(blocks)]
		out = encode(block, out[:0])
		raw, size = raw+len(block), size+len(out)
	}
	b.ReportMetric(float64(size)/float64(raw), "ratio")
}

func benchDecode(b *testing.B, blocks [][]byte, encode func(src, dst []byte) []byte, d *zstd.Decoder) {
	var frames [][]byte
	for _, block := range blocks[:min(len(blocks), 2000)] {
		frames = append(frames, encode(block, nil))
	}
	out := make([]byte, 0, 8192)
	b.SetBytes(4096)
	for i := 0; b.Loop(); i++ {
		if _, err := d.DecodeAll(frames[i%len(frames)], out); err != nil {
			b.Fatal(err)
		}
	}
}
