package zdict_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/segment/zdict"
)

// The largest blocks, with the largest dictionary: the longest match and the
// farthest, the longest run of literals, and the most sequences.
func TestLargestBlocks(t *testing.T) {
	const most = zdict.MaxBlock
	rng := rand.New(rand.NewPCG(seed, 5))
	content := randomBytes(rng, 1<<20)
	e, err := zdict.Train(1, content, [][]byte{madeText(rng, 5000), content[:1000], content[len(content)-most:]})
	if err != nil {
		t.Fatal(err)
	}
	random := randomBytes(rng, most)
	var many []byte
	for len(many) < most {
		many = append(many, random[len(many)], 0xF1, 0xF2, 0xF3)
	}
	checkBlocks(t, "largest", e, [][]byte{
		content[:most], content[len(content)-most:], random, many, make([]byte, most),
		slices.Concat(random[:most-40], content[:40]),
		slices.Concat(content[:40], random[:most-80], content[:40]),
		bytes.Repeat([]byte("ab"), most/2), slices.Concat(random[:most/2], random[:most/2]),
	})
	if n := len(e.EncodeAll(content[:most], nil)); n > 40 {
		t.Errorf("a block that is in the dictionary takes %d bytes", n)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a block of more is taken")
			}
		}()
		e.EncodeAll(make([]byte, most+1), nil)
	}()
}
