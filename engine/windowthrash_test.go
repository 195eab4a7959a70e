package engine

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"ctxdb/cache"
	"ctxdb/format/disk"
)

// thrashFile has n turns of seeded sizes and returns what they cost together.
func thrashFile(t *testing.T, n int, logger *slog.Logger) (db *DB, tokens int) {
	t.Helper()
	o := memOptions(disk.NewMem(1))
	o.Logger = logger
	db = open(t, "/a", o)
	rng := rand.New(rand.NewPCG(11, 3))
	var turns []Turn
	for i := range n {
		turn := Turn{Role: "assistant", Tokens: 50 + rng.IntN(900), Content: fmt.Appendf(nil, "%d: %0*d", i, rng.IntN(9000), i)}
		tokens += turn.Tokens
		turns = append(turns, turn)
	}
	appendTurns(t, db, turns...)
	return db, tokens
}

// pass references turns first to last, and returns how many faulted.
func pass(t *testing.T, w *Window, first, last TurnID) (faults int) {
	t.Helper()
	for id := first; id <= last; id++ {
		_, hit, err := w.View(id)
		if err != nil {
			t.Fatal(err)
		}
		if !hit {
			faults++
		}
	}
	return faults
}

// TestThrash: a session works on ever more turns. Once they outgrow the window,
// that is named before they were gone through once more, said once, and the
// budget that is suggested ends it.
func TestThrash(t *testing.T) {
	for _, policy := range cache.Policies() {
		for _, low := range []float64{0, 1} {
			for _, pages := range []int{0, -1} {
				t.Run(fmt.Sprintf("policy=%s/low=%g/pages=%d", policy, low, pages), func(t *testing.T) {
					testThrash(t, WindowOptions{Policy: policy, LowWatermark: low, PageTokens: pages})
				})
			}
		}
	}
}

func testThrash(t *testing.T, o WindowOptions) {
	var log strings.Builder
	db, all := thrashFile(t, 60, slog.New(slog.NewTextHandler(&log, nil)))
	defer db.Close()
	o.BudgetTokens = all / 2
	w, err := db.Window("main", o)
	if err != nil {
		t.Fatal(err)
	}
	for range 6 { // a third of the turns: all of them stay
		pass(t, w, 1, 18)
	}
	if s := w.Stats(); s.Thrashing || s.Evictions > 0 || s.PagingPays || s.Reason != reasonFits {
		t.Fatalf("while all fits: %+v", s)
	}
	pass(t, w, 1, 60) // the work grows
	if w.Stats().Thrashing {
		t.Fatal("it thrashes before anything was wanted back")
	}
	pass(t, w, 1, 60)
	s := w.Stats()
	if !s.Thrashing || s.PagingPays || s.Reason != reasonThrash || s.SuggestedBudgetTokens <= o.BudgetTokens || s.SuggestedBudgetTokens > all*2 {
		t.Fatalf("after one pass over %d tokens: %+v", all, s)
	}
	pass(t, w, 1, 60)
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || w.Stats().Episodes != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
	o.BudgetTokens = w.Stats().SuggestedBudgetTokens
	better, err := db.Window("main", o) // goes on with the residents of the first
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		pass(t, better, 1, 60)
	}
	if s := better.Stats(); s.Thrashing || s.Faults*4 > s.Refs {
		t.Errorf("with the suggested %d of %d tokens: %+v", o.BudgetTokens, all, s)
	}
}

// TestThrashIsSaidSeldom: episodes that come and go by the hundred are warned of
// a few times only, the first of them at once.
func TestThrashIsSaidSeldom(t *testing.T) {
	var log strings.Builder
	db, all := thrashFile(t, 60, slog.New(slog.NewTextHandler(&log, nil)))
	defer db.Close()
	w, err := db.Window("main", WindowOptions{BudgetTokens: all / 20})
	if err != nil {
		t.Fatal(err)
	}
	for first := TurnID(1); first <= 31; first += 10 {
		for range 100 {
			pass(t, w, first, first+29) // too much
			for range 30 {
				pass(t, w, 1, 2) // little
			}
		}
		if first == 1 && !strings.Contains(log.String(), "level=WARN") {
			t.Error("no warning")
		}
	}
	if n, s := strings.Count(log.String(), "level=WARN"), w.Stats(); n > 3 || s.Episodes < 100 {
		t.Errorf("%d warnings of %d episodes in %d references", n, s.Episodes, s.Refs)
	}
}

// TestThrashInATinyWindow: what would end it is found for budgets of a few
// tokens as well. It was looked for without end.
func TestThrashInATinyWindow(t *testing.T) {
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	w, err := db.Window("", WindowOptions{BudgetTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		var refs []pageRef
		for range 5 + rng.IntN(60) {
			n := uint32(rng.IntN(6))
			refs = append(refs, pageRef{key: makePageKey(TurnID(n+1), 0), tokens: n%3 + 1})
		}
		_, footprint, _ := reuses(refs, func(r pageRef) int64 { return int64(r.tokens) })
		if tokens, _ := w.suggest(refs); tokens < 2 || int64(tokens) > footprint {
			t.Errorf("%d tokens are suggested, all together are %d: %v", tokens, footprint, refs)
		}
	}
}

// TestNoLocality: what is never wanted again, or wanted by chance, is named.
func TestNoLocality(t *testing.T) {
	db, all := thrashFile(t, 200, nil)
	defer db.Close()
	w, err := db.Window("once", WindowOptions{BudgetTokens: all / 5})
	if err != nil {
		t.Fatal(err)
	}
	pass(t, w, 1, 200)
	if s := w.Stats(); s.PagingPays || s.Reason != reasonOnce || s.Thrashing {
		t.Errorf("one pass: %+v", s)
	}
	if w, err = db.Window("any", WindowOptions{BudgetTokens: all / 2, LowWatermark: 1, Policy: cache.LRU}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		w.View(TurnID(1 + rng.IntN(200)))
	}
	if s := w.Stats(); s.PagingPays || s.Reason != reasonChance && s.Reason != reasonThrash {
		t.Errorf("any turn at any time: %+v", s)
	}
	if w, err = db.Window("some", WindowOptions{BudgetTokens: all / 5}); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 { // a few turns, and now and then another
		id := TurnID(1 + rng.IntN(20))
		if i%20 == 0 {
			id = TurnID(1 + rng.IntN(200))
		}
		w.View(id)
	}
	if s := w.Stats(); !s.PagingPays || s.Reason != reasonPays {
		t.Errorf("a working set: %+v", s)
	}
}

// TestReuseDistances holds them against a list that is searched.
func TestReuseDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var refs []pageRef
	for range 600 {
		n := uint32(rng.IntN(40))
		refs = append(refs, pageRef{key: makePageKey(TurnID(n+1), 0), tokens: n*7%31 + 1})
	}
	got, footprint, wanted := reuses(refs, func(r pageRef) int64 { return int64(r.tokens) })
	var want []reuse
	sum, total := int64(0), int64(0)
	for i, r := range refs {
		total += int64(r.tokens)
		seen := map[pageKey]bool{r.key: true}
		d := int64(r.tokens)
		j := i - 1
		for ; j >= 0 && refs[j].key != r.key; j-- {
			if !seen[refs[j].key] {
				d += int64(refs[j].tokens)
			}
			seen[refs[j].key] = true
		}
		if j < 0 {
			sum += int64(r.tokens)
		} else {
			want = append(want, reuse{d, int64(r.tokens)})
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || footprint != sum || wanted != total {
		t.Errorf("%v, footprint %d, wanted %d\n%v, %d, %d", got, footprint, wanted, want, sum, total)
	}
}
