package segment

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

// dictionaryTexts are genuine sessions and chats as they lie on the disk.
var dictionaryTexts = []string{"entire-cli-claude-code/f0-c3dbdad0d8-0.jsonl", "entire-graph-codex/03-0f3d39319d-0.jsonl", "locomo/locomo5-dev.json"}

// BenchmarkDictionary shows what was left out when content blocks got their
// dictionary, and what loading one costs. Ratios are blocks of 4 KiB over their text,
// the dictionary not counted; the text is cut into stretches of 512 KiB for that.
// ratio: each stretch with a dictionary of its own; of-the-last: with that of the
// stretch before. Loading is decoding, and making a decoder's tables.
//
//	go test -run xxx -bench Dictionary -benchtime 1x ./segment
func BenchmarkDictionary(b *testing.B) {
	dir := trial.Data(b)
	for _, name := range dictionaryTexts {
		b.Run("text="+filepath.Base(filepath.Dir(name)), func(b *testing.B) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				dictionaryCosts(b, text)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func dictionaryCosts(b *testing.B, text []byte) {
	var raw, own, last int
	var before *encoder
	for stretch := range slices.Chunk(text, 512<<10) {
		blocks := slices.Collect(slices.Chunk(stretch, 4096))
		e, err := dictEncoder(0, chooseContent(blocks, maxDictionary), blocks)
		if err != nil {
			b.Fatal(err)
		}
		if before != nil {
			raw += len(stretch)
			own += sizeOf(e, blocks)
			last += sizeOf(before, blocks)
		}
		before = e
	}
	b.ReportMetric(float64(own)/float64(raw), "ratio")
	b.ReportMetric(float64(last)/float64(raw), "of-the-last-ratio")
	plain := plainEncoders.Get().(*encoder)
	defer plainEncoders.Put(plain)
	stored, codec := plain.encode(before.dictionary)
	stored = slices.Clone(stored)
	b.ReportMetric(float64(len(stored))/float64(len(before.dictionary)), "dictionary-ratio")
	decode := fastest(func() { decodeStored(nil, stored, codec, uint32(len(before.dictionary)), plainDecoder()) })
	tables := fastest(func() { _, _ = newDecoder(before.dictionary) })
	b.ReportMetric(micros(decode), "decode-us")
	b.ReportMetric(micros(tables), "tables-us")
}

func sizeOf(e *encoder, blocks [][]byte) (n int) {
	for _, block := range blocks {
		stored, _ := e.encode(block)
		n += len(stored)
	}
	return n
}

// fastest of some runs: what the others take is the machine's.
func fastest(f func()) (least time.Duration) {
	for i := range 50 {
		start := time.Now()
		f()
		if took := time.Since(start); i == 0 || took < least {
			least = took
		}
	}
	return least
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
