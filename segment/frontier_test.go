package segment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

// TestFrontier prints size against time over block sizes, dictionaries and
// levels. It measures and asserts nothing, so it runs only when asked.
func TestFrontier(t *testing.T) {
	if os.Getenv("CTXDB_FRONTIER") == "" {
		t.Skip("set CTXDB_FRONTIER=1 to measure")
	}
	dir := trial.Data(t)
	sets := map[string]func() ([]segment.Turn, int){}
	for _, name := range sessionFiles {
		sets[name] = func() ([]segment.Turn, int) { return session(t, filepath.Join(dir, name)) }
	}
	for _, name := range []string{"tau-bench/gpt-4o-airline.json", "locomo/locomo5-dev.json"} {
		sets[name] = func() ([]segment.Turn, int) { return chats(t, filepath.Join(dir, name)) }
	}
	for _, name := range append(slices.Clone(sessionFiles), "tau-bench/gpt-4o-airline.json", "locomo/locomo5-dev.json") {
		turns, size := sets[name]()
		fmt.Printf("%s: %d turns, %d bytes\n", name, len(turns), size)
		for _, block := range []int{2 << 10, 4 << 10, 8 << 10, 16 << 10} {
			for _, dict := range []int{-1, 16 << 10, 32 << 10, 64 << 10, 112 << 10, 0} {
				for _, level := range []zstd.EncoderLevel{zstd.SpeedDefault, zstd.SpeedBetterCompression} {
					measure(t, turns, size, segment.BuildOptions{BlockBytes: block, DictionaryBytes: dict, Level: level})
				}
			}
		}
	}
}

func measure(t *testing.T, turns []segment.Turn, size int, o segment.BuildOptions) {
	start := time.Now()
	b := build(t, 1, turns, o)
	took := time.Since(start)
	s := opened(t, b, 4096, segment.OpenOptions{})
	where, err := s.Where(1)
	if err != nil {
		t.Fatal(err)
	}
	var stored, dictionary int64 = 0, where[0].Offset - 4096 - 128
	seen := map[int64]bool{}
	for i := range turns {
		where, err := s.Where(uint64(i) + 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range where {
			if w.Stream == 2 && !seen[w.Offset] {
				seen[w.Offset] = true
				stored += int64(w.Stored) + 32
			}
		}
	}
	var times []time.Duration
	var buffer []byte
	for range 3 {
		for i := range turns {
			start := time.Now()
			buffer, _ = s.AppendContent(buffer[:0], uint64(i)+1)
			times = append(times, time.Since(start))
		}
	}
	slices.Sort(times)
	fmt.Printf("block %6d dict %6d level %-8v: file/jsonl %.3f  content ratio %.2f (blocks alone %.2f, dict stored %d)  fault p50 %v p99 %v  build %.1f MB/s\n",
		o.BlockBytes, o.DictionaryBytes, o.Level, float64(len(b.Bytes))/float64(size),
		float64(b.Entry.RawBytes)/float64(stored+dictionary), float64(b.Entry.RawBytes)/float64(stored), dictionary, times[len(times)/2], times[len(times)*99/100],
		float64(b.Entry.RawBytes+b.Entry.SourceBytes)/1e6/took.Seconds())
}

// TestFaultAgainstDecode times each fault right beside the decode of another
// turn's block, so that a busy machine slows both and neither warms the other's
// caches. It asserts nothing and runs only when asked.
func TestFaultAgainstDecode(t *testing.T) {
	if os.Getenv("CTXDB_FRONTIER") == "" {
		t.Skip("set CTXDB_FRONTIER=1 to measure")
	}
	for _, name := range sessionFiles {
		turns, _ := session(t, filepath.Join(trial.Data(t), name))
		built := build(t, 1, turns, segment.BuildOptions{})
		s := opened(t, built, 4096, segment.OpenOptions{})
		d, ids, blocks := decodable(t, s, built, turns)
		var fault, decode []time.Duration
		buffer := make([]byte, 0, 64<<10)
		for range 20 {
			for i, id := range ids {
				t0 := time.Now()
				buffer, _ = s.AppendContent(buffer[:0], id)
				t1 := time.Now()
				buffer, _ = d.DecodeAll(blocks[(i+len(ids)/2)%len(ids)], buffer[:0])
				decode = append(decode, time.Since(t1))
				fault = append(fault, t1.Sub(t0))
			}
		}
		slices.Sort(fault)
		slices.Sort(decode)
		at := func(list []time.Duration, q int) time.Duration { return list[len(list)*q/100] }
		fmt.Printf("%s: %d turns in one block: fault p50 %v p99 %v, decode p50 %v p99 %v, ratio of p50 %.2f\n", name, len(ids),
			at(fault, 50), at(fault, 99), at(decode, 50), at(decode, 99), float64(at(fault, 50))/float64(at(decode, 50)))
	}
}
