package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

var subjects = strings.Fields(`harbour violin glacier telescope orchard turbine parcel lantern compiler ledger
 monsoon railway pottery antenna quarry vineyard archive beacon canal dynamo`)

// chatter is a turn of about a number of tokens about nothing in particular.
func chatter(rng *rand.Rand, tokens int) string {
	var b strings.Builder
	for b.Len() < 4*tokens {
		fmt.Fprintf(&b, "the %s and the %s were checked again in step %d. ", subjects[rng.IntN(len(subjects))], subjects[rng.IntN(len(subjects))], rng.IntN(500))
	}
	return b.String()
}

// TestNeedle: a turn at a fifth of a session is in the prompt whenever it is
// asked for, and the prompt saves at least what was published for a hosted
// embedding and a model that selects.
func TestNeedle(t *testing.T) {
	for _, c := range []struct {
		turns int
		saved float64 // per cent, published
	}{{20, 3.2}, {40, 50.3}, {80, 74.4}, {160, 87.4}, {320, 93.7}} {
		worst, found, runs := 100.0, 0, 10
		for seed := range runs {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
			all := make([]Turn, c.turns)
			sum := 0
			for i := range all {
				all[i] = Turn{Thread: "s", Role: []string{"user", "assistant"}[i%2], Time: time.Unix(int64(1_700_000_000+60*i), 0), Content: []byte(chatter(rng, 350+rng.IntN(100)))}
			}
			secret := fmt.Sprintf("The vault code of the northern depot is %d.", 100000+rng.IntN(900000))
			all[c.turns/5].Content = append(all[c.turns/5].Content, secret...)
			for i := range all {
				sum += EstimateTokens(all[i].Content)
			}
			appendTurns(t, db, all...)
			w := window(t, db, WindowOptions{BudgetTokens: 200_000, IndexTokens: 800})
			p := assemble(t, w, Query{Text: "What is the vault code of the northern depot?"})
			if strings.Contains(p.Text(), secret) {
				found++
			}
			worst = min(worst, 100-100*float64(p.Tokens)/float64(sum))
		}
		t.Logf("%d turns: saved at least %.1f %% (published %.1f %%), needle present %d of %d times", c.turns, worst, c.saved, found, runs)
		if worst < c.saved || found != runs {
			t.Error("that is less than published")
		}
	}
}

func window(t *testing.T, db *DB, o WindowOptions) *Window {
	t.Helper()
	w, err := db.Window("", o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func assemble(t *testing.T, w *Window, q Query) Prompt {
	t.Helper()
	p, err := w.Assemble(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	checkPrompt(t, w, &p)
	return p
}

// checkPrompt holds what is true of every prompt.
func checkPrompt(t *testing.T, w *Window, p *Prompt) {
	t.Helper()
	text := p.Text()
	if got := w.db.opts.Tokenizer([]byte(text)); got != p.Tokens {
		t.Fatalf("%d tokens are said, %d counted", p.Tokens, got)
	}
	o := w.Options()
	if o.BudgetTokens > 0 && p.Tokens > o.BudgetTokens || o.BudgetBytes > 0 && int64(len(text)) > o.BudgetBytes {
		t.Fatalf("%d tokens and %d bytes exceed %d and %d", p.Tokens, len(text), o.BudgetTokens, o.BudgetBytes)
	}
	if cap := w.indexCap(); int64(w.db.opts.Tokenizer([]byte(p.indexText()))) > cap.Tokens {
		t.Fatalf("an index beyond %d tokens:\n%s", cap.Tokens, p.indexText())
	}
	here := map[TurnID]bool{}
	for i, m := range p.Messages {
		here[m.ID] = true
		if i > 0 {
			before := p.Messages[i-1]
			if (before.Why == WhyPinned) == (m.Why == WhyPinned) && (before.ID > m.ID || before.ID == m.ID && before.Part >= m.Part) || m.Why == WhyPinned && before.Why != WhyPinned {
				t.Fatalf("%s stands behind %s", m.name(), before.name())
			}
		}
		turn, err := w.db.Get(m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if m.Part == WholeTurn && !bytes.Equal(turn.Content, m.Content) || !bytes.Contains(turn.Content, m.Content) || turn.Role != m.Role || !turn.Time.Equal(m.Time) {
			t.Fatalf("%s is not as it was", m.name())
		}
	}
	for _, m := range p.Messages {
		if m.Role == "tool_result" && m.ReplyTo != 0 && !here[m.ReplyTo] {
			t.Fatalf("%s is without its call #%d", m.name(), m.ReplyTo)
		}
	}
	for _, note := range p.Notes {
		var id TurnID
		if _, err := fmt.Sscanf(note, "#%d is one of the newest turns and does not", &id); err == nil && here[id] {
			t.Fatalf("%s: it is there", note)
		}
	}
	for _, h := range p.Index {
		if _, _, whole := w.here(h.ID, 0); whole || len(h.String()) > max(HandleBytes, o.HandleBytes) {
			t.Fatalf("%s\nis in the index, whole %v", h, whole)
		}
	}
	checkVendors(t, p)
}

// TestPromptsInBudget makes random sessions and prompts, with tool calls, long
// turns, pins and changing questions, under all kinds of budgets.
func TestPromptsInBudget(t *testing.T) {
	for seed := range uint64(trial.Size(10, 3)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		tokenizer := []func([]byte) int{nil, func(b []byte) int { return len(b)/3 + 1 }, func(b []byte) int { return bytes.Count(b, []byte(" ")) }}[rng.IntN(3)]
		db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), &Options{Tokenizer: tokenizer, Sync: SyncNever})
		w := window(t, db, WindowOptions{
			BudgetTokens: 300 + rng.IntN(9000), BudgetBytes: []int64{0, 2000 + rng.Int64N(30000)}[rng.IntN(2)], PageTokens: []int{0, 64, 300, -1}[rng.IntN(4)],
			KeepRecent: rng.IntN(6) - 1, IndexTokens: rng.IntN(2) * rng.IntN(600), PinOnFault: rng.IntN(2) == 0, CallsApart: rng.IntN(3) == 0,
			ShortTurns: []int{0, -1, 5}[rng.IntN(3)], LowWatermark: []float64{0, 0.9, 1}[rng.IntN(3)],
		})
		var ids []TurnID
		for step := range 20 {
			ids = append(ids, appendTurns(t, db, someSession(rng, len(ids))...)...)
			if rng.IntN(4) == 0 {
				if err := db.Checkpoint(ctx); err != nil {
					t.Fatal(err)
				}
			}
			switch id := ids[rng.IntN(len(ids))]; rng.IntN(5) {
			case 0:
				if err := w.Pin(id); err != nil && !errors.Is(err, ErrOverBudget) {
					t.Fatal(err)
				}
			case 1:
				w.Unpin(id)
			case 2:
				if _, _, err := w.Get(id); err != nil && !errors.Is(err, ErrOverBudget) {
					t.Fatal(err)
				}
			}
			q := Query{Text: "what about the " + subjects[rng.IntN(len(subjects))] + " in step " + fmt.Sprint(rng.IntN(500))}
			p, err := w.Assemble(ctx, q)
			if errors.Is(err, ErrOverBudget) {
				if w.Stats().PinnedTokens == 0 {
					t.Fatalf("seed %d step %d: %v though nothing is pinned", seed, step, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			checkPrompt(t, w, &p)
		}
	}
}

// someSession is a few turns, with calls of tools that are answered.
func someSession(rng *rand.Rand, n int) (turns []Turn) {
	at := time.Unix(int64(1_700_000_000+60*n), 0)
	for range 1 + rng.IntN(4) {
		key := fmt.Sprint("k", n, "-", len(turns))
		turn := Turn{Key: key, Thread: "s", Role: []string{"user", "assistant", "system"}[rng.IntN(3)], Time: at, Content: []byte(chatter(rng, rng.IntN(300)))}
		if rng.IntN(10) == 0 {
			turn.Content = []byte(chatter(rng, 5000))
		}
		turns = append(turns, turn)
		if rng.IntN(2) == 0 {
			continue
		}
		id := fmt.Sprintf("toolu_%d_%d", n, len(turns))
		call := Turn{Key: key + "c", Thread: "s", Role: "tool_call", Time: at, Tags: []string{"tool:Read"}, Entities: []string{"src/" + subjects[rng.IntN(len(subjects))] + ".go"},
			Content: fmt.Appendf(nil, `[{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":"x"}}]`, id)}
		result := Turn{Key: key + "r", Thread: "s", Role: "tool_result", Time: at, ReplyKey: call.Key, Tags: call.Tags, Entities: call.Entities, Content: []byte(chatter(rng, rng.IntN(2500)))}
		if rng.IntN(3) == 0 {
			result.Content = fmt.Appendf(nil, `[{"type":"tool_result","tool_use_id":%q,"content":[{"type":"text","text":"ok"}]}]`, id)
		}
		turns = append(turns, call, result)
	}
	return turns
}
