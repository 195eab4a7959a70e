package format

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The key alone is the one that the whole record has, and damage is noticed up to
// its end.
func TestMetaKeyIsTheRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	text := func(n int) string {
		b := make([]byte, rng.IntN(n))
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		return string(b)
	}
	for range 500 {
		turn := Turn{Role: text(20), Thread: text(40), Key: text(60), Summary: text(30), Tokens: rng.Uint64N(1 << 30), ReplyTo: rng.Uint64N(3) * 77}
		if rng.IntN(2) == 0 {
			turn.Time = time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9)).In(time.FixedZone("", 3600*rng.IntN(12)))
		}
		if rng.IntN(2) == 0 {
			turn.Source = []byte(text(9))
		}
		meta := AppendMeta(nil, &turn)
		key, ok := MetaKey(meta)
		if !ok || string(key) != turn.Key {
			t.Fatalf("%q, %t, want %q", key, ok, turn.Key)
		}
		for n := range len(meta) {
			key, ok := MetaKey(meta[:n])
			r, _, err := DecodeMeta(meta[:n], 0)
			if err == nil && (!ok || string(key) != r.Key) || ok && string(key) != turn.Key {
				t.Fatalf("cut at %d of %d: %q, %t; the record %q, %v", n, len(meta), key, ok, r.Key, err)
			}
		}
	}
}
