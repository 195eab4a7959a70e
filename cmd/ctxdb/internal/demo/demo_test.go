package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"time"

	"ctxdb/cache"
	"ctxdb/cache/replay"
	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ticking is a clock that moves by 1 to 23 microseconds whenever it is read.
func ticking() func() time.Duration {
	var now, reads time.Duration
	return func() time.Duration {
		reads++
		now += (1 + reads*reads%23) * time.Microsecond
		return now
	}
}

// run is Run with a ticking clock and few samples; its report and its output.
func run(t *testing.T, o Options) (Report, string) {
	t.Helper()
	o.clock, o.samples = ticking(), 30
	if o.Seed != 0 || o.Keep != "" || o.Budget != 0 || o.JSON {
		o.seeds = 2 // means are held against what is published in the default run
	}
	var out bytes.Buffer
	r, err := Run(t.Context(), &out, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func TestDefaultRunIsThePublishedOne(t *testing.T) {
	r, _ := run(t, Options{})
	if r.Session.Turns != 60 || r.References != 1500 || r.BudgetTokens != 8000 {
		t.Fatalf("%d turns, %d references, budget %d", r.Session.Turns, r.References, r.BudgetTokens)
	}
	if d := r.Session.Tokens - sessionTokens; d < -200 || d > 200 {
		t.Errorf("the session has %d tokens, want about %d", r.Session.Tokens, sessionTokens)
	}
	if k := r.KeepAll; k.PeakTokens != r.Session.Tokens || k.Faults != 0 || k.Evictions != 0 {
		t.Errorf("keeping everything: %+v", k)
	}
	if got := r.Paged[0]; got.Policy != "lru" || got.Faults != published.Faults {
		t.Errorf("%s made %d faults, want the published %d by lru", got.Policy, got.Faults, published.Faults)
	}
	if len(r.Paged) != len(cache.Policies()) {
		t.Errorf("%d policies of %d", len(r.Paged), len(cache.Policies()))
	}
	belady, bound := r.Offline[0], r.Offline[1]
	if rate := bound.Mean.Faults / 1500; rate < 0.09 || rate > 0.10 || bound.Faults > belady.Faults || bound.Mean.Faults > belady.Mean.Faults {
		t.Errorf("the bound is %.3f of the references; %+v, %+v", rate, belady, bound)
	}
	lru, idle := r.Paged[0], r.Paged[1]
	if gain := 1 - idle.Mean.Faults/lru.Mean.Faults; idle.Policy != cache.IdleSize || idle.Faults >= lru.Faults || gain < 0.03 || gain > 0.07 {
		t.Errorf("idle-size makes %d faults, %.1f %% fewer than lru in the mean, want about 5 %%", idle.Faults, 100*gain)
	}
	for _, p := range r.Paged {
		if p.PeakTokens > r.BudgetTokens || p.PeakTokens < r.BudgetTokens*9/10 {
			t.Errorf("%s: peak of %d tokens under a budget of %d", p.Policy, p.PeakTokens, r.BudgetTokens)
		}
		if rate := p.Mean.Faults / 1500; (p.Policy == cache.LRU || p.Policy == cache.CLOCK) && (rate < 0.13 || rate > 0.17) {
			t.Errorf("%s: %.3f of the references were faults over %d seeds, want about 0.15", p.Policy, rate, p.Mean.Seeds)
		}
		if faults := float64(p.Faults); p.Mean.Seeds != MeanSeeds || p.Mean.Min > faults || p.Mean.Max < faults || faults < bound.Faults || p.Mean.Faults < bound.Mean.Faults {
			t.Errorf("%s: %d faults, bound %.1f, %+v", p.Policy, p.Faults, bound.Faults, *p.Mean)
		}
	}
	if n := r.lost(); n != 0 {
		t.Errorf("%d losses", n)
	}
}

// TestSimulationIsTheWindow: package replay, which has no file, counts for each policy what
// a window of the engine did.
func TestSimulationIsTheWindow(t *testing.T) {
	r, _ := run(t, Options{Seed: 7})
	trace, err := (&pager{turns: newSession(7)}).trace(r.References, r.Seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Paged {
		s, err := replay.Simulate(t.Context(), trace, replay.Options{Budget: int64(r.BudgetTokens), Policy: p.Policy, LowWatermark: 1, Recent: -1})
		if err != nil || int(s.Faults) != p.Faults || int(s.Evictions) != p.Evictions || int(s.Peak) != p.PeakTokens {
			t.Errorf("%s: simulated %+v (%v), the window did %+v", p.Policy, s, err, p)
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	for _, seed := range []uint64{1, DefaultSeed}[:trial.Size(2, 1)] {
		a, _ := run(t, Options{Seed: seed})
		b, _ := run(t, Options{Seed: seed})
		a.File, b.File = File{}, File{}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d: two runs differ:\n%+v\n%+v", seed, a, b)
		}
	}
	a, _ := run(t, Options{Seed: 1})
	b, _ := run(t, Options{Seed: 2})
	if reflect.DeepEqual(a.Paged, b.Paged) || a.Session == b.Session {
		t.Error("two seeds give the same run")
	}
}

func TestBudgetHoldsUnderOtherSizes(t *testing.T) {
	for _, budget := range []int{8000, 12_000, 70_000} {
		r, _ := run(t, Options{Budget: budget, References: 400})
		for _, p := range r.Paged {
			if p.PeakTokens > budget || p.References != 400 || p.TurnsLost != 0 {
				t.Errorf("budget %d: %+v", budget, p)
			}
			if budget > r.Session.Tokens && p.Evictions != 0 {
				t.Errorf("everything fits, and %d turns were evicted", p.Evictions)
			}
		}
	}
}

// size is what follows from how the engine lays a file out, not from the demo.
var size = regexp.MustCompile(`(?m)^(  (?:the ctxdb file, closed|without its free space)) .*\n(?:  Free space .*\n)?`)

func TestGolden(t *testing.T) {
	if trial.Race {
		t.Skip("the default run once more")
	}
	r, out := run(t, Options{})
	var again bytes.Buffer
	if err := r.WriteText(&again); err != nil || again.String() != out {
		t.Fatalf("the text is not made from the report alone (%v):\n%s", err, out)
	}
	got := size.ReplaceAllString(out, "$1 ...\n")
	golden := filepath.Join("testdata", "report.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("run with -update if this is meant:\n%s", got)
	}
}

func TestJSONIsTheReport(t *testing.T) {
	r, out := run(t, Options{JSON: true})
	var back Report
	if err := json.Unmarshal([]byte(out), &back); err != nil {
		t.Fatal(err)
	}
	if r.File.Findings == nil {
		r.File.Findings = []string{}
	}
	if !reflect.DeepEqual(back, r) {
		t.Errorf("JSON says\n%+v\nwant\n%+v", back, r)
	}
}

func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.ctxdb")
	r, _ := run(t, Options{Keep: path})
	before, err := os.ReadFile(path)
	if err != nil || int64(len(before)) != r.File.Bytes {
		t.Fatalf("%d bytes kept (%v), reported %d", len(before), err, r.File.Bytes)
	}
	holdsSession(t, path, newSession(DefaultSeed))

	_, err = Run(t.Context(), &bytes.Buffer{}, Options{Keep: path})
	if !errors.Is(err, ErrExists) {
		t.Fatalf("a second run to the same path: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Fatalf("the refused run changed the file (%v)", err)
	}
}

// holdsSession opens a file beside the demo's own code and compares its turns.
func holdsSession(t *testing.T, path string, want []engine.Turn) {
	t.Helper()
	db, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if rec := db.Recovery(); !rec.Clean {
		t.Errorf("the file was not closed: %+v", rec)
	}
	for f, err := range db.Verify(t.Context()) {
		t.Errorf("verify: %+v, %v", f, err)
	}
	n := 0
	for got, err := range db.Turns(1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		w := want[n]
		if got.Key != w.Key || got.Role != w.Role || !got.Time.Equal(w.Time) || !bytes.Equal(got.Content, w.Content) ||
			!reflect.DeepEqual(got.Entities, w.Entities) || got.ReplyTo != engine.TurnID(n) {
			t.Errorf("turn %d is not as appended: %+v", n+1, got)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d turns, want %d", n, len(want))
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	tmp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, tmp)
	}
	run(t, Options{Seed: 5, References: 100})
	path := filepath.Join(tmp, "kept.ctxdb")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, o := range []Options{{Keep: path}, {}} {
		if _, err := Run(ctx, &bytes.Buffer{}, o); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	for _, o := range []Options{{Keep: path, Budget: 100}, {Budget: -1}, {References: -1}} {
		if _, err := Run(t.Context(), &bytes.Buffer{}, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
