package fuzz

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// A harness that finds nothing proves nothing. Each test here takes something
// away on purpose, and the harness must notice.

// hunt plays crash histories until one contradicts the model. spoil prepares
// each player.
func hunt(seeds uint64, spoil func(p *player)) error {
	for seed := uint64(1); seed <= seeds; seed++ {
		if err := huntOnce(seed, spoil); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

func huntOnce(seed uint64, spoil func(p *player)) error {
	set := &optionSets[0]
	ops := coreHistory(seed)[:90]
	if seed%4 == 3 {
		set, ops = &optionSets[2], ghostHistory(seed)
	}
	if seed%2 == 0 {
		set = &optionSets[seed/2%2*2]
		ops = history(seeded(seed), 60, true)
	}
	p := newPlayer(seed, set)
	p.cut = newCutter(seed)
	p.cut.variants, p.cut.write, p.cut.deep = 10, 100, 3
	if seed == 1 {
		if err := p.mem.Put(path, nil); err != nil {
			return err
		}
	}
	spoil(p)
	return p.play(ops)
}

// ghostHistory is many short lives of equal turns that are synced now and then:
// what one life left in the log would fit behind the turns of the next.
func ghostHistory(seed uint64) (ops []operation) {
	rng := seeded(seed)
	for range 25 {
		for range 1 + rng.IntN(4) {
			ops = append(ops, appendOp{{size: equal}})
		}
		if rng.IntN(2) == 0 {
			ops = append(ops, syncOp{})
		}
		modes := []disk.Mode{disk.Reordered, disk.KeepWrites, disk.TornSectors, disk.Mixed, disk.KeepAll}
		ops = append(ops, powerOp{disk.Variant{Mode: modes[rng.IntN(len(modes))], Seed: rng.Uint64()}})
	}
	return ops
}

// lies are what the disk reports as done and does not do. A sync that is left out
// is made up for by the next one, so some are needed only where syncs fail: see
// TestUnheardSyncs.
var lies = []struct {
	names    []string
	harmless string // why nothing is to be found; "": it must be
}{
	{[]string{"commit"}, ""},
	{[]string{"first publication"}, ""},
	{[]string{"second publication"}, ""},
	{[]string{"root"}, ""},
	{[]string{"prepare"}, ""},
	{[]string{"directory"}, ""},
	{[]string{"temporary"}, ""},
	{[]string{"claim"}, ""},
	{[]string{"segment", "leaf", "root"}, ""},
	{[]string{"segment"}, "the sync of the leaf covers it, before the publication"},
	{[]string{"leaf"}, "the sync of the root covers it, before the publication"},
	{[]string{"zeros"}, "salts tell leftovers apart: see TestLeftoversAreNoTornTail"},
}

// TestLyingSyncs: without one kind of sync something acknowledged is lost.
func TestLyingSyncs(t *testing.T) {
	for _, l := range lies {
		if trial.Brief() && l.harmless != "" {
			continue
		}
		t.Run(strings.Join(l.names, "+"), func(t *testing.T) {
			t.Parallel()
			start, seeds := time.Now(), uint64(12)
			if l.harmless != "" && !*full {
				seeds = 1
			}
			err := hunt(seeds, func(p *player) { p.lying(l.names...) })
			if (err == nil) != (l.harmless != "") {
				t.Errorf("%s: found %v", l.harmless, err)
			}
			t.Logf("%v: %v", time.Since(start).Round(time.Millisecond), err)
		})
	}
}

// TestUnheardSyncs: where one kind of sync fails and nobody hears it, what it
// should have kept is lost, whatever is synced later.
func TestUnheardSyncs(t *testing.T) {
	for _, name := range []string{"commit", "prepare", "segment", "leaf", "root", "first publication", "second publication"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			err := hunt(12, func(p *player) { p.deaf(name) })
			if err == nil {
				t.Error("nothing was found")
			}
			t.Logf("%v: %v", time.Since(start).Round(time.Millisecond), err)
		})
	}
}

// TestMutations runs TestMutant in a build in which checks can be switched off.
func TestMutations(t *testing.T) {
	if trial.Brief() {
		t.Skip("builds another test binary")
	}
	out, err := exec.Command("go", "test", "-tags", "ctxdbmutate", "-count=1", "-timeout", "5m", "-run", "^TestMutant$", "-v", ".").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no go command")
	}
	if err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("%s", out)
}
