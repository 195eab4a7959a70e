package segment_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

func benchTurns(b *testing.B) []segment.Turn {
	turns, _ := session(b, filepath.Join(trial.Data(b), sessionFiles[0]))
	return turns
}

// BenchmarkFault reads whole turns of a real session whose content lies in one
// block: those are what a decode loop over the same blocks can be compared with.
func BenchmarkFault(b *testing.B) {
	turns := benchTurns(b)
	built := build(b, 1, turns, segment.BuildOptions{})
	for _, noMap := range []bool{false, true} {
		s := opened(b, built, 4096, segment.OpenOptions{NoMap: noMap})
		d, ids, blocks := decodable(b, s, built, turns)
		buffer := make([]byte, 0, 64<<10)
		b.Run(fmt.Sprintf("op=content/map=%t", !noMap), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var err error
				if buffer, err = s.AppendContent(buffer[:0], ids[i%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("op=turn/map=%t", !noMap), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := s.Turn(ids[i%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		if noMap {
			continue
		}
		b.Run("op=decode", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				var err error
				if buffer, err = d.DecodeAll(blocks[i%len(blocks)], buffer[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// decodable returns the turns that lie in one block each, those blocks, and a
// decoder for them: the floor is decoding them from memory with nothing checked.
func decodable(t testing.TB, s *segment.Segment, built *segment.Built, turns []segment.Turn) (d *zstd.Decoder, ids []uint64, blocks [][]byte) {
	t.Helper()
	plain, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	h, ok := format.PeekBlock(built.Bytes[format.SegmentHeaderSize:])
	if !ok || h.Stream != format.StreamDictionary {
		t.Fatal("no dictionary")
	}
	dictionary, err := plain.DecodeAll(built.Bytes[format.SegmentHeaderSize+format.BlockHeaderSize:][:h.Stored], nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDicts(dictionary)); err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		id := uint64(i) + 1
		where, err := s.Where(id)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(turns[i].Content); where[0].Codec == format.CodecZstdDict && n > 400 && format.Parts(turns[i].Content) == 1 {
			ids = append(ids, id)
			blocks = append(blocks, built.Bytes[where[0].Offset-4096+format.BlockHeaderSize:][:where[0].Stored])
		}
	}
	return d, ids, blocks
}

// BenchmarkFirstFault includes opening and the dictionary.
func BenchmarkFirstFault(b *testing.B) {
	turns := benchTurns(b)
	built := build(b, 1, turns, segment.BuildOptions{})
	f, path := onDisk(b, built.Bytes, 0)
	for b.Loop() {
		s := segment.Open(f, path, testUUID, built.Entry, segment.OpenOptions{})
		if _, err := s.AppendContent(nil, 500); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkBuild(b *testing.B) {
	turns := benchTurns(b)
	for _, level := range []zstd.EncoderLevel{zstd.SpeedDefault, zstd.SpeedBetterCompression} {
		b.Run(fmt.Sprintf("level=%v", level), func(b *testing.B) {
			var built *segment.Built
			for b.Loop() {
				built = build(b, 1, turns, segment.BuildOptions{Level: level})
			}
			b.SetBytes(int64(built.Entry.RawBytes + built.Entry.SourceBytes))
			b.ReportMetric(float64(len(built.Bytes)), "file-bytes")
		})
	}
}

func BenchmarkFindKey(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		entries := make([]format.KeyEntry, n)
		for i := range entries {
			entries[i] = format.KeyEntry{Hash: format.HashKey(fmt.Sprint(i)), ID: uint64(i) + 1}
		}
		r := run(b, entries)
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var ids []uint64
			for i := 0; b.Loop(); i++ {
				var err error
				if ids, err = r.FindKey(entries[i*7919%n].Hash, ids[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
