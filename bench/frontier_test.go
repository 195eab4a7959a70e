package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/segment"
)

// segmentContent is what a segment holds of content when the engine seals.
const segmentContent = 4 << 20

// BenchmarkFrontier shows what the size of blocks and of the dictionary and the
// level of compression cost and bring: a segment's bytes, keys and index pages
// included and the search index not, over its content; and a fault of any of
// its turns. dict=chosen is what sealing does.
//
//	go test -run xxx -bench Frontier -benchtime 1x ./bench
func BenchmarkFrontier(b *testing.B) {
	chat, err := workload.Chat()
	must(b, err)
	for _, set := range []*workload.Set{turns(b), chat} {
		all := segmentTurns(b, set)
		b.Run(fmt.Sprintf("set=%s/block=whole/dict=none/level=best", set.Name), func(b *testing.B) { whole(b, all) })
		for _, block := range []int{1, 2, 4, 8, 16, 32} {
			for _, dict := range []int{-1, 32, 0} {
				for _, level := range levels(block, dict) {
					o := segment.BuildOptions{BlockBytes: block << 10, DictionaryBytes: max(dict<<10, -1), Level: level}
					b.Run(fmt.Sprintf("set=%s/block=%dk/dict=%s/level=%s", set.Name, block, dictName(dict), levelName(level)), func(b *testing.B) {
						frontier(b, all, o)
					})
				}
			}
		}
	}
}

// whole is how far the codec goes where nothing has to be found: all content in one frame.
func whole(b *testing.B, all []segment.Turn) {
	var text []byte
	for i := range all {
		text = append(text, all[i].Content...)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	must(b, err)
	defer enc.Close()
	var packed []byte
	for b.Loop() {
		packed = enc.EncodeAll(text, packed[:0])
	}
	b.ReportMetric(float64(len(packed))/float64(len(text)), "segment/content")
	b.ReportMetric(0, "ns/op")
}

func contentBytes(all []segment.Turn) (n int64) {
	for i := range all {
		n += int64(len(all[i].Content))
	}
	return n
}

func dictName(kib int) string {
	switch {
	case kib < 0:
		return "none"
	case kib == 0:
		return "chosen"
	}
	return fmt.Sprintf("%dk", kib)
}

// levels are those of the library, and own, which needs a dictionary; all of them
// only beside the default's block and dictionary.
func levels(blockKiB, dict int) []zstd.EncoderLevel {
	switch {
	case dict < 0:
		return []zstd.EncoderLevel{zstd.SpeedDefault, zstd.SpeedBetterCompression}
	case blockKiB == 4 && dict == 0:
		return []zstd.EncoderLevel{own, zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression}
	}
	return []zstd.EncoderLevel{own, zstd.SpeedBetterCompression}
}

// own is the level that stands for the encoder of package zdict.
const own zstd.EncoderLevel = 0

func levelName(l zstd.EncoderLevel) string {
	if l == own {
		return "own"
	}
	return l.String()
}

func segmentTurns(b *testing.B, set *workload.Set) (all []segment.Turn) {
	size := 0
	for i := 0; i < set.Len() && size < segmentContent; i++ {
		t := set.At(i)
		size += len(t.Content)
		meta := format.AppendMeta(nil, &format.Turn{Role: t.Role, Thread: t.Thread, Time: t.Time, Key: t.Key, Tokens: uint64(len(t.Content) / 4), Content: t.Content})
		record, _, err := format.DecodeMeta(meta, 0)
		must(b, err)
		all = append(all, segment.Turn{Meta: meta, Record: record, Content: t.Content})
	}
	return all
}

func frontier(b *testing.B, all []segment.Turn, o segment.BuildOptions) {
	id := segment.Identity{UUID: format.UUID{1}, Number: 1, Nonce: 1, FirstID: 1}
	var built *segment.Built
	before := measure.Used().CPU // not the time that passed: other work may run beside
	for b.Loop() {
		var err error
		built, err = segment.Build(id, all, o)
		must(b, err)
	}
	cpu := measure.Used().CPU - before
	content := contentBytes(all)
	if cpu > 0 {
		b.ReportMetric(float64(content)*float64(b.N)/1e6/cpu.Seconds(), "build-MB/cpu-s")
	}
	b.ReportMetric(float64(len(built.Bytes))/float64(content), "segment/content")
	b.ReportMetric(0, "ns/op")
	report(b, "fault", segmentFaults(b, id.UUID, built, len(all)))
}

// segmentFaults reads turns of a segment at random.
func segmentFaults(b *testing.B, uuid format.UUID, built *segment.Built, n int) (s measure.Samples) {
	const offset = 4096
	path := filepath.Join(b.TempDir(), "segment")
	must(b, os.WriteFile(path, append(make([]byte, offset), built.Bytes...), 0o600))
	f, err := disk.OS.Open(path, false)
	must(b, err)
	defer f.Close()
	entry := built.Entry
	entry.Offset = offset
	x := segment.Open(f, path, uuid, entry, segment.OpenOptions{})
	defer x.Close()
	rng := rand.New(rand.NewPCG(workload.Seed, 5))
	buf := make([]byte, 0, 2<<20)
	for range 2 { // the first round warms up
		s = make([]time.Duration, 0, 5000)
		for range cap(s) {
			id := 1 + rng.Uint64N(uint64(n))
			must(b, s.Time(func() (err error) { buf, err = x.AppendContent(buf[:0], id); return err }))
		}
	}
	return s
}
