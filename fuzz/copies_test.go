package fuzz

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"ctxdb/engine"
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
