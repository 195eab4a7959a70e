package fuzz

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"ctxdb/engine"
	"ctxdb/format"
	"ctxdb/format/disk"
)

// copyLive copies files piece by piece while they are written, and opens the
// copies: each is refused, or has at least what was acknowledged when the
// copying began, and nothing invented.
func copyLive(seeds uint64) error {
	for seed := uint64(1); seed <= seeds; seed++ {
		if err := copyOnce(seed); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

func copyOnce(seed uint64) error {
	p := newPlayer(seed, &optionSets[0])
	rng := seeded(seed ^ 0xabc)
	if err := p.play(coreHistory(seed)[:rng.IntN(60)]); err != nil {
		return err
	}
	began := p.model.visible
	const piece = 4096
	copied := p.mem.Bytes(path)[:piece]
	slow := 1 + rng.IntN(6)
	for i, op := range append(coreHistory(seed + 1000)[:150], coreHistory(seed + 2000)[:150]...) {
		for range min(1, i) * rng.IntN(8) / slow {
			now := p.mem.Bytes(path)
			if len(copied) >= len(now) {
				break
			}
			copied = append(copied, now[len(copied):min(len(copied)+piece, len(now))]...)
		}
		if err := p.run(op); err != nil {
			return err
		}
	}
	if rest := p.mem.Bytes(path); len(rest) > len(copied) {
		copied = append(copied, rest[len(copied):]...)
	}
	mem := disk.NewMem(1)
	if err := mem.Put(path, copied); err != nil {
		return err
	}
	db, err := engine.Open(path, optionSets[0].options(mem, seed, 9))
	if err != nil {
		if proper(err) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	}
	n := int(db.Stats().NextID) - 1
	if n < began {
		return fmt.Errorf("the copy has %d turns, %d were there when it began", n, began)
	}
	for i := range n {
		got, err := db.Get(engine.TurnID(i + 1))
		if err != nil && i < began && !errors.Is(err, engine.ErrCorrupt) {
			return fmt.Errorf("turn %d of the copy: %w", i+1, err)
		}
		if err == nil {
			if err := sameTurn(p.model.turns[i], got); err != nil {
				return fmt.Errorf("the copy: %w", err)
			}
		}
	}
	return nil
}

func TestCopiesWhileWritten(t *testing.T) {
	if err := copyLive(uint64(amount(4, 12, 1000))); err != nil {
		t.Error(err)
	}
}

// recycledCopy makes a copy whose front is from one moment, and whose log extent
// from a later one, when the space had become another log extent. The copy is
// refused, or has what was acknowledged at the first.
func recycledCopy() error {
	p := newPlayer(7, &optionSets[0])
	if err := p.play([]operation{appendOp{{size: small}, {size: tiny}}, appendOp{{size: small}}, appendOp{{size: tiny}}}); err != nil {
		return err
	}
	b := p.mem.Bytes(path)
	s, err := format.DecodeSuperblock(b[format.SlotA:format.SlotA+format.SuperblockSize], format.SlotA)
	if err != nil {
		return err
	}
	x := s.Log[0]
	x.Cycle, x.Salt = x.Cycle+4, x.Salt+1
	space := b[x.Offset : x.Offset+x.Length]
	clear(space)
	copy(space, format.EncodeLogEdge(s.UUID, x, false))
	copy(space[x.Length-format.LogEdge:], format.EncodeLogEdge(s.UUID, x, true))
	mem := disk.NewMem(1)
	if err := mem.Put(path, b); err != nil {
		return err
	}
	db, err := engine.Open(path, reading(mem))
	if err != nil {
		if !proper(err) {
			return err
		}
		return nil
	}
	defer db.Close()
	if n := int(db.Stats().NextID) - 1; n < p.model.visible {
		return fmt.Errorf("a copy with %d turns, %d were acknowledged before it began", n, p.model.visible)
	}
	return nil
}

// TestRecycledCopy is the control of what TestMutant relies on.
func TestRecycledCopy(t *testing.T) {
	if err := recycledCopy(); err != nil {
		t.Error(err)
	}
}
