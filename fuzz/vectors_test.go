package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// texts is an Embedder whose vectors tell texts apart: random numbers drawn from
// the text itself.
type texts struct{}

func (texts) Model() string { return "texts" }

func (texts) Embed(_ context.Context, list []string) ([][]float32, error) {
	all := make([][]float32, len(list))
	for i, s := range list {
		rng := randomBytes(uint64(len(s)))
		if len(s) > 0 {
			rng = randomBytes(hashOf(s))
		}
		for range 24 {
			all[i] = append(all[i], float32(rng.Uint64()>>40)/(1<<23)-1)
		}
	}
	return all, nil
}

func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// embedOp makes the vectors that are missing.
type embedOp struct{}

func (embedOp) String() string { return "embed" }

func (embedOp) run(p *player) error {
	logged := p.db.Stats().LoggedTurns > 0
	r, err := p.db.Embed(ctx, engine.EmbedOptions{})
	if p.tripped(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if logged || r.Made > 0 { // it put the log away, or published
		p.change(func(m *Model) { m.durable = m.visible })
	}
	p.change(func(m *Model) { m.embedded = int(r.Committed) - 1 })
	if p.model.embedded != p.model.visible {
		return fmt.Errorf("vectors up to turn %d of %d", p.model.embedded, p.model.visible)
	}
	return vectorsMatch(p.model, p.db, p.model.visible)
}

// vectorsMatch looks up turns of the first n by the vector of their content: what
// is found is that very content, so no vector belongs to another turn; and what a
// pass had committed is found.
func vectorsMatch(m *Model, db *engine.DB, n int) error {
	for i := 0; i < n; i += 1 + n/20 {
		want := &m.turns[i]
		shown := bytes.ToValidUTF8(bytes.TrimSpace(append([]byte(want.Summary+"\n"), want.Content...)), []byte("\ufffd"))
		if len(shown) == 0 || len(shown) > 4<<10 || want.Role == engine.RoleMeta {
			continue
		}
		v, _ := texts{}.Embed(ctx, []string{string(bytes.TrimSpace(shown))})
		f, err := db.Find(ctx, engine.Query{Vector: v[0], VectorModel: "texts", K: 3})
		if err != nil {
			return fmt.Errorf("by the vector of turn %d: %w", want.ID, err)
		}
		near := 0
		for _, h := range f.Hits {
			if int(h.ID) > n {
				return fmt.Errorf("the vector of turn %d leads to turn %d of %d", want.ID, h.ID, n)
			}
			if math.Abs(h.Score-1) > 0.01 {
				continue
			}
			near++
			if got := &m.turns[h.ID-1]; !bytes.Equal(got.Content, want.Content) {
				return fmt.Errorf("the vector of turn %d was made of turn %d", h.ID, want.ID)
			}
		}
		if near == 0 && i < m.embedded {
			return fmt.Errorf("turn %d had a vector and has none", want.ID)
		}
	}
	return nil
}

// TestCrashVectors cuts the power while vectors are made and small runs of them
// are joined, between appends and seals; and lets syncs fail and processes die
// there. Whatever is left opens, has its turns, and every vector that is there is
// that of its turn.
func TestCrashVectors(t *testing.T) {
	histories(t, amount(1, 3, 12), func(seed uint64) (tally, error) {
		set := optionSets[seed%3]
		set.Embedder = texts{}
		p := newPlayer(seed, &set)
		p.cut = newCutter(seed)
		p.cut.variants, p.cut.write, p.cut.deep = 24, 40, 20
		p.cut.vectors = true
		rng := seeded(seed)
		modes := disk.Variants(seed)
		var ops []operation
		for i := range 12 {
			for range 1 + rng.IntN(8) {
				ops = append(ops, appendOp{{size: small, kind: drawKind(rng), pick: rng.IntN(1 << 16)}})
			}
			if i%4 == 3 {
				ops = append(ops, tripOp{n: rng.IntN(12), kill: i%8 == 3, v: modes[rng.IntN(len(modes))]})
			}
			ops = append(ops, embedOp{})
			if i%5 == 2 {
				ops = append(ops, reopenOp{}, embedOp{})
			}
		}
		ops = append(ops, embedOp{}, readOp{})
		err := p.play(ops)
		return *p.cut.tally, err
	})
}
