package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/fuzz/trial"
)

// arrangements are orders that a prompt could have, beside the one it has.
var arrangements = []string{"by id, index last", "index before the newest turns", "index after the stable prefix"}

func arranged(p *Prompt, how string) string {
	var pinned, old, recent strings.Builder
	for _, m := range p.Messages {
		switch m.Why {
		case WhyPinned:
			pinned.WriteString(m.text())
		case WhyRecent:
			recent.WriteString(m.text())
		default:
			old.WriteString(m.text())
		}
	}
	switch how {
	case arrangements[1]:
		return pinned.String() + old.String() + p.indexText() + recent.String()
	case arrangements[2]:
		return pinned.String() + p.indexText() + old.String() + recent.String()
	}
	return p.Text()
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// TestCacheReuse measures, over a session of 200 steps, which share of each
// prompt a cache of the one before it would serve, by watermark and by
// arrangement. The arrangement in use must be the best of them.
func TestCacheReuse(t *testing.T) {
	for _, watermark := range []float64{0.6, 0.4, 0.8, 1}[:trial.Size(4, 1)] {
		rng := rand.New(rand.NewPCG(7, 7))
		db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), &Options{Sync: SyncNever})
		w := window(t, db, WindowOptions{BudgetTokens: 16_000, LowWatermark: watermark})
		ids := appendTurns(t, db, Turn{Role: "system", Thread: "s", Content: []byte(chatter(rng, 800))})
		if err := w.Pin(ids[0]); err != nil {
			t.Fatal(err)
		}
		before := map[string]string{}
		same, all := map[string]int{}, 0
		for step := range 200 {
			topic := subjects[step/10%len(subjects)]
			appendTurns(t, db,
				Turn{Role: "user", Thread: "s", Content: fmt.Appendf(nil, "Question %d: go on with the %s. %s", step, topic, chatter(rng, 40))},
				Turn{Role: "assistant", Thread: "s", Content: fmt.Appendf(nil, "The %s: %s", topic, chatter(rng, rng.IntN(500)))})
			p := assemble(t, w, Query{Text: "go on with the " + topic, K: 12})
			if step > 20 {
				all += len(p.Text())
			}
			for _, how := range arrangements {
				text := arranged(&p, how)
				if step > 20 {
					same[how] += commonPrefix(before[how], text)
				}
				before[how] = text
			}
		}
		for _, how := range arrangements {
			t.Logf("watermark %.1f, %-30s: %.1f %% of the prompt reused", watermark, how, 100*float64(same[how])/float64(all))
			if same[how] > same[arrangements[0]] {
				t.Errorf("watermark %.1f: %q reuses more", watermark, how)
			}
		}
	}
}

// TestStablePrefix: as long as the same turns are pinned, prompts begin with the
// same bytes, whatever is asked and evicted.
func TestStablePrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), &Options{Sync: SyncNever})
	w := window(t, db, WindowOptions{BudgetTokens: 5000})
	ids := appendTurns(t, db, Turn{Role: "system", Content: []byte("You keep the books.")}, Turn{Role: "user", Content: []byte("Always answer in rhymes.")})
	for _, id := range ids {
		if err := w.Pin(id); err != nil {
			t.Fatal(err)
		}
	}
	prefix := ""
	for step := range 60 {
		appendTurns(t, db, Turn{Role: "user", Content: []byte(chatter(rng, 300))})
		p := assemble(t, w, Query{Text: subjects[rng.IntN(len(subjects))]})
		if step == 0 {
			prefix = p.Text()[:p.StablePrefixBytes]
		}
		if p.StablePrefixBytes != len(prefix) || p.Text()[:len(prefix)] != prefix || !strings.Contains(prefix, "rhymes") {
			t.Fatalf("step %d: the prefix changed:\n%s", step, p.Text()[:p.StablePrefixBytes])
		}
	}
	if w.Stats().Evictions == 0 {
		t.Error("nothing was evicted: this proves little")
	}
}
