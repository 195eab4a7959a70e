package format

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestSourceRoundTrip(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for i := range 400 {
		content := randomText(rng, rng.IntN(3000))
		source := append([]byte(`{"uuid":"3f","text":"`), appendEscaped(nil, content)...)
		source = append(source, `","copy":"`...)
		if len(content) > 0 {
			source = append(source, content[rng.IntN(len(content)):]...)
		}
		source = append(source, "\"}\n"...)
		enc := EncodeSource(nil, source, content)
		got, err := DecodeSource(nil, enc, content, len(source), 0)
		if err != nil || !bytes.Equal(got, source) {
			t.Fatalf("round %d: %v, %d bytes of %d", i, err, len(got), len(source))
		}
		if len(content) > 1000 && len(enc) > 300 {
			t.Fatalf("round %d: %d content bytes escaped in a source took %d", i, len(content), len(enc))
		}
	}
}

func randomText(rng *rand.Rand, n int) []byte {
	const letters = "etaoin shrdlu\n\t\"\\{}abc\x01\x1f"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return b
}

func BenchmarkEncodeSource(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	content := randomText(rng, 4000)
	source := append(append([]byte(`{"uuid":"3f","text":"`), appendEscaped(nil, content)...), randomText(rng, 2000)...)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		EncodeSource(nil, source, content)
	}
}
