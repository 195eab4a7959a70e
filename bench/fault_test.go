package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
	"ctxdb/segment/zdict"
)

const faultTurns = 20_000

// BenchmarkFault reads the content of a sealed turn that is in no window, into
// the caller's buffer: from the page cache, alternately with decoding a block of
// the same size; and from the disk, alternately with one aligned read of it.
// bench/peers compares with decoding the very same blocks.
func BenchmarkFault(b *testing.B) {
	for _, mapped := range []bool{true, false} {
		b.Run(fmt.Sprintf("cache=warm/map=%t", mapped), func(b *testing.B) { warmFault(b, mapped) })
	}
	for _, mapped := range []bool{true, false} {
		b.Run(fmt.Sprintf("cache=cold/map=%t", mapped), func(b *testing.B) { coldFault(b, mapped) })
	}
}

func warmFault(b *testing.B, mapped bool) {
	set := turns(b)
	db := openAt(b, sealed(b, set, faultTurns), &engine.Options{ReadOnly: true, NoMap: !mapped})
	decode := decodeFloor(b, set)
	rng := rand.New(rand.NewPCG(workload.Seed, 0))
	buf := make([]byte, 0, 2<<20)
	var own, bare measure.Samples
	read := func() engine.TurnID {
		id := engine.TurnID(1 + rng.IntN(faultTurns))
		must(b, own.Time(func() (err error) { buf, err = db.AppendContent(buf[:0], id); return err }))
		return id
	}
	for range 2000 { // opens what is opened on the first use
		read()
	}
	own = make(measure.Samples, 0, 1<<20)
	bare = make(measure.Samples, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		if id := read(); len(buf) != set.Size(int(id)-1) {
			b.Fatalf("turn %d: %d bytes", id, len(buf))
		}
		must(b, bare.Time(decode))
	}
	report(b, "fault", own)
	report(b, "decode", bare)
	b.ReportMetric(own.Micros(.5)/bare.Micros(.5), "p50-ratio")
}

// decodeFloor returns a function that decodes blocks of about 4 KiB in turn,
// made of the same turns with a dictionary of them, and nothing else.
func decodeFloor(b testing.TB, set *workload.Set) func() error {
	var dict []byte
	for i := 0; len(dict) < 64<<10; i += 7 {
		content := set.At(i).Content
		dict = append(dict, content[:min(2048, len(content))]...)
	}
	var plain []byte
	for i := range 2000 {
		plain = append(plain, set.At(i).Content...)
	}
	texts := slices.Collect(slices.Chunk(plain, 4096))
	enc, err := zdict.Train(1, dict, texts[:min(len(texts), 100)])
	must(b, err)
	dec, err := zstd.NewReader(nil, zstd.WithDecoderDicts(enc.Dictionary()), zstd.WithDecoderConcurrency(1))
	must(b, err)
	b.Cleanup(dec.Close)
	var blocks [][]byte
	for _, text := range texts {
		blocks = append(blocks, enc.EncodeAll(text, nil))
	}
	out := make([]byte, 0, 8192)
	i := 0
	return func() error {
		i++
		_, err := dec.DecodeAll(blocks[i%len(blocks)], out)
		return err
	}
}

// coldFault drops the page cache before each read. What was read without the
// disk was not cold and does not count: mapped pages in use can't be dropped.
func coldFault(b *testing.B, mapped bool) {
	if !measure.CanDropCache {
		b.Skip("the page cache can't be dropped here")
	}
	set := turns(b)
	path := sealed(b, set, faultTurns)
	file, err := os.Open(path)
	must(b, err)
	defer file.Close()
	st, err := file.Stat()
	must(b, err)
	must(b, measure.DropCache(path))
	db := openAt(b, path, &engine.Options{ReadOnly: true, NoMap: !mapped})
	rng := rand.New(rand.NewPCG(workload.Seed, 1))
	buf, page := make([]byte, 0, 2<<20), make([]byte, 4096)
	var own, bare measure.Samples
	var kib float64
	for b.Loop() {
		id := engine.TurnID(1 + rng.IntN(faultTurns))
		must(b, measure.DropCache(path))
		kib += cold(b, &own, func() (err error) { buf, err = db.AppendContent(buf[:0], id); return err })
		at := rng.Int64N(st.Size()/4096) * 4096
		must(b, measure.DropCache(path))
		cold(b, &bare, func() error { _, err := file.ReadAt(page, at); return err })
	}
	if len(own) == 0 || len(bare) == 0 {
		b.Skip("no read went to the disk: the page cache can't be dropped here")
	}
	report(b, "fault", own)
	report(b, "pread", bare)
	b.ReportMetric(kib/float64(len(own)), "KiB-read")
	b.ReportMetric(float64(len(own))/float64(b.N), "cold-share")
}

// cold adds the operation's duration if the disk took part, and returns how many KiB it gave.
func cold(b *testing.B, s *measure.Samples, operation func() error) float64 {
	var one measure.Samples
	before := measure.DiskReadBytes()
	must(b, one.Time(operation))
	n := measure.DiskReadBytes() - before
	if n > 0 {
		*s = append(*s, one...)
	}
	return float64(n) / 1024
}

// BenchmarkResident reads a turn that is in the window.
func BenchmarkResident(b *testing.B) {
	db := openNew(b, nil)
	ids, err := db.Append(ctx, turns(b).Slice(0, 64)...)
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
