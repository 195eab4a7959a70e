package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/engine"
)

// BenchmarkFault reads the content of a sealed turn that is cold in the window
// and warm in the page cache, into the caller's buffer, alternately with
// decoding a block of the same size.
func BenchmarkFault(b *testing.B) {
	work := turns(b, 20000)
	db := openNew(b, nil)
	for i := 0; i < len(work); i += 500 {
		_, err := db.Append(ctx, work[i:min(i+500, len(work))]...)
		must(b, err)
	}
	must(b, db.Checkpoint(ctx))
	decode := decodeFloor(b, work)
	rng := rand.New(rand.NewPCG(seed, seed))
	buf := make([]byte, 0, 1<<20)
	var own, bare samples
	b.ReportAllocs()
	for b.Loop() {
		id := engine.TurnID(1 + rng.IntN(len(work)))
		own = append(own, timed(func() {
			out, err := db.AppendContent(buf[:0], id)
			must(b, err)
			if len(out) != len(work[id-1].Content) {
				b.Fatal("wrong content")
			}
		}))
		bare = append(bare, timed(decode))
	}
	own.report(b, "fault")
	bare.report(b, "decode")
	b.ReportMetric(own.quantile(.5)/bare.quantile(.5), "p50-ratio")
}

// decodeFloor returns a function that decodes blocks of about 4 KiB in turn,
// made of the same turns with a dictionary of them, and nothing else.
func decodeFloor(b testing.TB, work []engine.Turn) func() {
	var dict []byte
	for i := 0; len(dict) < 64<<10; i += 7 {
		dict = append(dict, work[i%len(work)].Content[:min(2048, len(work[i%len(work)].Content))]...)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(0, dict), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	must(b, err)
	dec, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(0, dict), zstd.WithDecoderConcurrency(1))
	must(b, err)
	b.Cleanup(dec.Close)
	var blocks [][]byte
	var plain []byte
	for _, t := range work[:2000] {
		plain = append(plain, t.Content...)
		for len(plain) >= 4096 {
			blocks = append(blocks, enc.EncodeAll(plain[:4096], nil))
			plain = plain[4096:]
		}
	}
	out := make([]byte, 0, 8192)
	i := 0
	return func() {
		_, err := dec.DecodeAll(blocks[i%len(blocks)], out)
		must(b, err)
		i++
	}
}

// BenchmarkResident reads a turn that is in the window.
func BenchmarkResident(b *testing.B) {
	db := openNew(b, nil)
	ids, err := db.Append(ctx, madeTurns(64)...)
	must(b, err)
	w, err := db.Window("bench", engine.WindowOptions{BudgetTokens: 1 << 30})
	must(b, err)
	for _, id := range ids {
		_, _, err := w.Get(id)
		must(b, err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_, hit, err := w.View(ids[i&63])
		if err != nil || !hit {
			b.Fatal(hit, err)
		}
		i++
	}
}
