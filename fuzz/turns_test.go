package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"ctxdb/engine"
)

// numbers is where a history gets its choices from: a seeded generator, or the
// bytes of a fuzzer. It returns 0 <= x < n.
type numbers interface{ IntN(n int) int }

// tape gives out the bytes of a fuzzer; zeros behind its end.
type tape struct{ b []byte }

func (t *tape) IntN(n int) int {
	x := 0
	for width := 1; width < n; width *= 256 {
		if len(t.b) == 0 {
			return 0
		}
		x, t.b = x<<8|int(t.b[0]), t.b[1:]
	}
	return x % n
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// Sizes of turns, in bytes of content.
type size int

const (
	tiny  size = iota // up to 40
	small             // up to 250: many of them fill a log
	long              // 5,000 to 14,000: several parts
	huge              // more than the smallest log takes
	equal             // 600, all alike but for what they say: a leftover fits behind another, and begins in another sector
)

func (s size) draw(rng numbers) int {
	switch s {
	case tiny:
		return rng.IntN(40)
	case small:
		return 40 + rng.IntN(210)
	case long:
		return 5000 + rng.IntN(9000)
	}
	return 20_000 + rng.IntN(30_000)
}

// makeTurn makes turn number serial of a history. Equal serials and sizes give
// equal turns; a fourth of them use every field.
func makeTurn(serial uint64, s size) engine.Turn {
	rng := seeded(serial<<3 | uint64(s))
	if s == equal {
		return engine.Turn{Role: "user", Content: fmt.Appendf(nil, "%0600d", serial)}
	}
	t := engine.Turn{Role: [...]string{"user", "assistant", "tool_result", engine.RoleMeta}[rng.IntN(4)], Content: words(rng, s.draw(rng))}
	if rng.IntN(3) > 0 {
		t.Key = fmt.Sprintf("key-%d", serial)
	}
	if rng.IntN(3) > 0 {
		t.Time = time.Unix(1_700_000_000+int64(serial), int64(rng.IntN(1e9))).In(time.FixedZone("", 900*(rng.IntN(20)-10)))
	}
	switch rng.IntN(8) {
	case 0, 1:
		t.Source = fmt.Appendf(nil, "{\"n\":%d,\"text\":%q}\n", serial, t.Content)
	case 2:
		t.Source = []byte{}
	}
	if rng.IntN(4) == 0 {
		t.Thread, t.Summary, t.Decision, t.Tokens = "side", "in short: "+string(words(rng, 30)), true, 7+rng.IntN(1000)
		t.Entities, t.Tags = []string{"main.go", "Größe"}, []string{"a", "", "b"}
		t.Embedding = []float32{float32(rng.IntN(100)) / 8, -1, 0}
	}
	return t
}

// words is n bytes: mostly text that repeats itself, sometimes noise.
func words(rng *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+16)
	noise := rng.IntN(6) == 0
	for len(b) < n {
		if noise {
			b = append(b, byte(rng.Uint32()))
			continue
		}
		b = append(b, strings.Repeat("ab", rng.IntN(2))...)
		b = append(b, [...]string{"window ", "fault ", "turn\n", "the log ", "ctxdb\x00", "π "}[rng.IntN(6)]...)
	}
	return b[:n]
}
