package fuzz

import (
	"fmt"
	"io"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// Zeroing and salts each tell what is old, and power cuts alone don't take them
// apart: what is zeroed and synced leaves nothing for a salt to find out. Here
// each is needed for itself.

// tornByLeftovers recycles a log several times, appends a little, and kills the
// process: nothing was torn, so no torn tail may be reported.
func tornByLeftovers(spoil func(p *player)) error {
	p := newPlayer(11, &optionSets[0])
	spoil(p)
	ops := append(coreHistory(11)[:150], checkpointOp{}, appendOp{{size: tiny}})
	if err := p.play(ops); err != nil {
		return err
	}
	db, err := engine.Open(path, reading(p.mem.Crash(disk.Variant{Mode: disk.KeepAll})))
	if err != nil {
		return err
	}
	defer db.Close()
	if n := db.Recovery().TornBytes; n > 0 {
		return fmt.Errorf("%d bytes are called torn, and nothing was", n)
	}
	return p.model.compare(db, p.model.visible, 7)
}

// TestLeftoversAreNoTornTail: a log extent is zeroed before its use, so that
// what it held before is never taken for a torn tail.
func TestLeftoversAreNoTornTail(t *testing.T) {
	if err := tornByLeftovers(func(*player) {}); err != nil {
		t.Error(err)
	}
	if err := tornByLeftovers(func(p *player) { p.lying("zeros") }); err == nil {
		t.Error("without zeroing nothing was found")
	} else {
		t.Logf("without zeroing: %v", err)
	}
}

// blendCopies lets two copies of a file live on apart, with equally long turns,
// and puts the sectors behind the last frame of the one into the other, as
// a folder that is synced by blocks can. UUID, places, LSNs and ids are the
// same; the salts alone say that these frames belong to another life.
func blendCopies(entropy io.Reader) error {
	first := newPlayer(21, &optionSets[0])
	if err := first.play([]operation{appendOp{{size: small}, {size: tiny}}, reopenOp{}}); err != nil {
		return err
	}
	if err := first.db.Close(); err != nil {
		return err
	}
	ours, last, end, err := liveOn(first.mem, entropy, 1, 5)
	if err != nil {
		return err
	}
	theirs, _, _, err := liveOn(first.mem, entropy, 2, 9)
	if err != nil {
		return err
	}
	if end%512 != 0 {
		return fmt.Errorf("the log ends at %d, within a sector", end)
	}
	b := ours.Bytes(path)
	copy(b[end:end+4096], theirs.Bytes(path)[end:])
	blend := disk.NewMem(1)
	if err := blend.Put(path, b); err != nil {
		return err
	}
	db, err := engine.Open(path, reading(blend))
	if err != nil {
		return err
	}
	defer db.Close()
	if n := engine.TurnID(db.Stats().NextID) - 1; n != last {
		return fmt.Errorf("phantom: %d turns, and %d were ever appended to this copy", n, last)
	}
	return nil
}

// liveOn appends n turns to a copy of a closed file. Each takes 1,024 bytes of
// the log, its promise included. end is where the log ends.
func liveOn(closed *disk.Mem, entropy io.Reader, seed uint64, n int) (mem *disk.Mem, last engine.TurnID, end int64, err error) {
	const group, around = 1024, 152 // around: what a frame and its promise take beside this content
	mem = closed.Crash(disk.Variant{})
	o := optionSets[0].options(mem, seed, 1)
	if entropy != nil {
		o.Entropy = entropy
	}
	db, err := engine.Open(path, o)
	if err != nil {
		return nil, 0, 0, err
	}
	for i := range n {
		ids, err := db.Append(ctx, engine.Turn{Role: "user", Content: fmt.Appendf(nil, "%0*d", group-around, 100*int(seed)+i)})
		if err != nil {
			return nil, 0, 0, err
		}
		last = ids[0]
	}
	at, err := db.Where(last)
	if err != nil {
		return nil, 0, 0, err
	}
	return mem, last, at[0].Offset + group, nil
}

// TestBlendedCopies: frames of another copy of the same file are no turns.
func TestBlendedCopies(t *testing.T) {
	if err := blendCopies(nil); err != nil {
		t.Error(err)
	}
}
