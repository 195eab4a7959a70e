package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxdb/engine"
)

// oddTurn draws a turn of which each field may be there, empty, absent, or no UTF-8.
func oddTurn(rng *rand.Rand, i int) engine.Turn {
	text := func() string {
		return []string{"", "a", "plain words", "\xff\x00 bytes", "line\nbreak\r", "\u2028é\"\\", "<b>&amp;"}[rng.IntN(7)]
	}
	t := engine.Turn{
		Thread: text(), Role: []string{"user", "assistant", "meta", "tool_result", "other\xff", "r"}[rng.IntN(6)],
		Content: []byte(text()), Summary: text(), Decision: rng.IntN(4) == 0,
	}
	if rng.IntN(2) == 0 {
		t.Key = fmt.Sprintf("%s%d", []string{"k", "s:u", "ctxdb:h", "\xffkey", "ctxdb:h00000000000000a"}[rng.IntN(5)], i)
	}
	if rng.IntN(2) == 0 {
		t.Time = time.Unix(rng.Int64N(2e9), rng.Int64N(1e9)).In(time.FixedZone("", 1800*(rng.IntN(9)-4)))
	}
	if i > 0 && rng.IntN(3) == 0 {
		t.ReplyTo = engine.TurnID(1 + rng.IntN(i))
	}
	for range rng.IntN(3) {
		t.Tags, t.Entities = append(t.Tags, text()), append(t.Entities, text())
	}
	if rng.IntN(4) == 0 {
		t.Tokens = 1 + rng.IntN(100)
	}
	switch rng.IntN(4) {
	case 0:
		t.Source = []byte{}
	case 1:
		t.Source = t.Content
	case 2:
		t.Source = []byte(text())
	}
	if rng.IntN(4) == 0 {
		t.Embedding, t.EmbeddingModel = []float32{rng.Float32(), -1, float32(math.Copysign(0, -1)), 1e-40}, text()
	}
	return t
}

// TestExportImportExport: what an export of ctxdb's own lines brings into an empty file is
// exported the same again, byte for byte; and importing it again adds nothing, also where
// the file had turns before.
func TestExportImportExport(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		dir := t.TempDir()
		a, b, c := filepath.Join(dir, "a.ctxdb"), filepath.Join(dir, "b.ctxdb"), filepath.Join(dir, "c.ctxdb")
		db, err := engine.Open(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 1 + rng.IntN(60)
		for i := range n {
			turn := oddTurn(rng, i)
			if i > 0 && rng.IntN(5) == 0 { // said again
				if turn, err = db.Get(engine.TurnID(1 + rng.IntN(i))); err != nil {
					t.Fatal(err)
				}
				turn.ID, turn.Key = 0, ""
			}
			if _, err := db.Append(t.Context(), turn); err != nil {
				t.Fatalf("seed %d, turn %d: %v", seed, i+1, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(dir, "first.jsonl")
		must(t, "export", a, "--format", "jsonl", "-o", first)
		lines, err := os.ReadFile(first)
		if err != nil {
			t.Fatal(err)
		}
		must(t, "import", b, first)
		if got := must(t, "export", b, "--format", "jsonl"); got != string(lines) {
			t.Errorf("seed %d: exported again it differs: %s", seed, firstDifference(string(lines), got))
		}
		must(t, "append", c, "--role", "user", "what was there before")
		must(t, "import", c, first)
		second := filepath.Join(dir, "second.jsonl")
		must(t, "export", c, "--format", "jsonl", "-o", second)
		for _, again := range []string{first, second} {
			added := 0
			if again == second {
				added = 1 // what was there before has a key from here on
			}
			if r := decode[importReport](t, 0, "import", b, again); r.Imported != added || r.Present != n || r.LeftOut != 0 {
				t.Errorf("seed %d: %s imported once more: %+v", seed, filepath.Base(again), r)
			}
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, w[i], strings.Join(g[i:min(i+1, len(g))], ""))
		}
	}
	return fmt.Sprintf("%d lines, then %d", len(w), len(g))
}
