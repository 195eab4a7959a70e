package zdict_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxdb/segment/zdict"
)

const seed = 20261201

// madeText is some lines of code as an agent reads them.
func madeText(rng *rand.Rand, n int) []byte {
	words := strings.Fields("func return error nil context window segment block read write append commit parse token if err != nil { } := range")
	var s strings.Builder
	for s.Len() < n {
		fmt.Fprintf(&s, "%s %s(%d)%s", words[rng.IntN(len(words))], words[rng.IntN(len(words))], rng.IntN(1000), []string{"\n", " ", "\t", ", "}[rng.IntN(4)])
	}
	return []byte(s.String()[:n])
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// kinds of blocks, and of what they have in common.
func blocksOf(rng *rand.Rand, kind string, n, size int) (list [][]byte) {
	for range n {
		size := max(size/2+rng.IntN(size+1), 1)
		var b []byte
		switch kind {
		case "text":
			b = madeText(rng, size)
		case "random":
			b = randomBytes(rng, size)
		case "one byte":
			b = bytes.Repeat([]byte{'x'}, size)
		case "mixed":
			b = slices.Concat(madeText(rng, size/2), randomBytes(rng, size/4), bytes.Repeat([]byte{0}, size/4))
		case "all letters": // many symbols, all as likely
			b = []byte(strings.Repeat("наступила осень 你好世界 ελληνικά", size/50+1))[:size]
		case "numbers":
			for len(b) < size {
				b = binary.BigEndian.AppendUint64(b, rng.Uint64N(1<<40))
			}
		}
		list = append(list, b)
	}
	return list
}

// every block decodes to itself, by a decoder that knows nothing of the encoder
// but its dictionary.
func TestRoundTrip(t *testing.T) {
	t.Logf("seed %d", seed)
	for _, kind := range []string{"text", "random", "one byte", "mixed", "all letters", "numbers"} {
		for _, size := range []int{1, 40, 700, 4096, 70_000, 100_000} {
			rng := rand.New(rand.NewPCG(seed, uint64(size)))
			n := max(min(400, 1<<20/size), 8)
			blocks := blocksOf(rng, kind, n, min(size, zdict.MaxBlock*2/3))
			content := slices.Concat(blocks[:max(n/4, 1)]...)
			content = append(content, "func main() {}"...)
			e, err := zdict.Train(1, content[:min(len(content), 112<<10)], blocks[n/2:])
			if err != nil {
				t.Fatalf("%s of %d: %v", kind, size, err)
			}
			checkBlocks(t, fmt.Sprintf("%s of %d", kind, size), e, append(blocks, nil, []byte("y"), content[len(content)/2:][:min(len(content)/2, zdict.MaxBlock)]))
		}
	}
}

func checkBlocks(t *testing.T, what string, e *zdict.Encoder, blocks [][]byte) {
	t.Helper()
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDicts(e.Dictionary()))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer d.Close()
	raw, size := 0, 0
	for i, b := range blocks {
		frame := e.EncodeAll(b, []byte("before"))
		if string(frame[:6]) != "before" {
			t.Fatalf("%s, block %d: what was there is gone", what, i)
		}
		got, err := d.DecodeAll(frame[6:], nil)
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%s, block %d of %d bytes: %d decoded, %v", what, i, len(b), len(got), err)
		}
		if limit := len(b) + 13; len(frame)-6 > limit {
			t.Fatalf("%s, block %d: %d bytes became %d", what, i, len(b), len(frame)-6)
		}
		raw, size = raw+len(b), size+len(frame)-6
	}
	t.Logf("%s: %d blocks, %d bytes, %.3f of them", what, len(blocks), raw, float64(size)/float64(raw))
}

// The same encoder, and one made of the same, give the same bytes, whatever came
// between.
func TestSameBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 1))
	blocks := blocksOf(rng, "mixed", 50, 4096)
	content := madeText(rng, 20_000)
	var first [][]byte
	for range 3 {
		e, err := zdict.Train(1, content, blocks[:10])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var all [][]byte
			for _, b := range blocks {
				all = append(all, e.EncodeAll(b, nil))
			}
			if first == nil {
				first = all
			}
			if !slices.EqualFunc(first, all, bytes.Equal) {
				t.Fatal("other bytes")
			}
		}
	}
}

// Smaller than what the library makes of the same blocks with the same
// dictionary: else there is no reason for this package.
func TestSmallerThanTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 2))
	blocks := blocksOf(rng, "text", 300, 4096)
	content := slices.Concat(blocks[:15]...)
	e, err := zdict.Train(1, content, blocks[100:200])
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderDictRaw(0, content), zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	own, library := 0, 0
	for _, b := range blocks[200:] {
		own += len(e.EncodeAll(b, nil))
		library += len(z.EncodeAll(b, nil))
	}
	if own*100 > library*95 {
		t.Errorf("%d bytes, the library makes %d", own, library)
	}
	t.Logf("%d bytes, the library makes %d", own, library)
}

// What can't be a dictionary is refused, and the least that can is taken.
func TestTrainRefuses(t *testing.T) {
	for _, c := range []struct {
		id    uint8
		bytes int
		ok    bool
	}{{0, 100, false}, {1, 7, false}, {1, 8, true}, {255, 1 << 20, true}, {1, 1<<20 + 1, false}} {
		if _, err := zdict.Train(c.id, make([]byte, c.bytes), nil); (err == nil) != c.ok {
			t.Errorf("id %d, %d bytes: %v", c.id, c.bytes, err)
		}
	}
}
