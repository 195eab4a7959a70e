package fuzz

import (
	"path/filepath"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// TestSameTurnsUnderAllOptions plays one history under each option set, in
// memory and on the machine's own files, which are mapped. Each is compared
// with the model all along; at the end all have the same turns.
func TestSameTurnsUnderAllOptions(t *testing.T) {
	for seed := range uint64(amount(1, 2, 60)) {
		ops := history(seeded(seed+500), 120, false)
		var turns []int
		for i := range optionSets {
			p := newPlayer(seed, &optionSets[i])
			if err := p.play(ops); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, p.set.Name, err)
			}
			if err := p.model.compare(p.db, p.model.visible, 1); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, p.set.Name, err)
			}
			if err := p.db.Close(); err != nil {
				t.Fatal(err)
			}
			turns = append(turns, p.model.visible)
			if i == 0 {
				onMachine(t, p)
			}
		}
		for i := range turns {
			if turns[i] != turns[0] {
				t.Fatalf("seed %d: %d turns under %s, %d under %s", seed, turns[i], optionSets[i].Name, turns[0], optionSets[0].Name)
			}
		}
	}
}

// onMachine writes the closed file of a player to disk and reads it mapped, and
// not mapped.
func onMachine(t *testing.T, p *player) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.ctxdb")
	f, tmp, err := disk.OS.CreateTemp(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFull(f, p.mem.Bytes(path), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []engine.Options{{ReadOnly: true}, {ReadOnly: true, NoMap: true}, {}} {
		db, err := engine.Open(tmp, &o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.model.compare(db, p.model.visible, 1); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
