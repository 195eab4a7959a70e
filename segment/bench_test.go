package segment_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
	"ctxdb/segment"
)

func benchTurns(b *testing.B) []segment.Turn {
	turns, _ := session(b, filepath.Join(dataDir(b), sessionFiles[0]))
	return turns
}

// BenchmarkFault reads whole turns of a real session whose content lies in one
// block: those are what a decode loop over the same blocks can be compared with.
func BenchmarkFault(b *testing.B) {
	turns := benchTurns(b)
	built := build(b, 1, turns, segment.BuildOptions{})
	for _, noMap := range []bool{false, true} {
		s := opened(b, built, 4096, segment.OpenOptions{NoMap: noMap})
		var ids []uint64
		for i := range turns {
			if where, err := s.Where(uint64(i) + 1); err == nil && where[0].Codec == format.CodecZstdDict && format.Parts(turns[i].Content) == 1 && len(turns[i].Content) > 400 {
				ids = append(ids, uint64(i)+1)
			}
		}
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
		if !noMap {
			decodeLoop(b, s, built, ids)
		}
	}
}

// decodeLoop is the floor: the same blocks, decoded from memory, nothing checked.
func decodeLoop(b *testing.B, s *segment.Segment, built *segment.Built, ids []uint64) {
	var blocks [][]byte
	var dictionary []byte
	plain, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if h, ok := format.PeekBlock(built.Bytes[format.SegmentHeaderSize:]); ok && h.Stream == format.StreamDictionary {
		var err error
		if dictionary, err = plain.DecodeAll(built.Bytes[format.SegmentHeaderSize+format.BlockHeaderSize:][:h.Stored], nil); err != nil {
			b.Fatal(err)
		}
	}
	for _, id := range ids {
		where, err := s.Where(id)
		if err != nil {
			b.Fatal(err)
		}
		at := where[0].Offset - 4096 + format.BlockHeaderSize
		blocks = append(blocks, built.Bytes[at:][:where[0].Stored])
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDictRaw(format.DictionaryID, dictionary))
	if err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 0, 64<<10)
	b.Run("op=decode", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if buffer, err = d.DecodeAll(blocks[i%len(blocks)], buffer[:0]); err != nil {
				b.Fatal(err)
			}
		}
	})
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
