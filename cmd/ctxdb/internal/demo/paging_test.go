package demo

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxdb/cache"
	"ctxdb/engine"
)

// TestLossIsSeen holds the comparison to account: a turn that differs from what
// the demo believes it appended, and one that is not there, are both counted.
func TestLossIsSeen(t *testing.T) {
	db, err := engine.Open(filepath.Join(t.TempDir(), "a.ctxdb"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := &pager{db: db, turns: newSession(DefaultSeed), clock: ticking()}
	if _, err := p.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	refs, err := p.references(DefaultReferences, DefaultSeed)
	if err != nil {
		t.Fatal(err)
	}
	altered, missing := refs[0], refs[0]
	for missing == altered {
		refs = refs[1:]
		missing = refs[0]
	}
	refs = append(refs, altered)
	p.turns[altered].Content = bytes.ToUpper(p.turns[altered].Content)
	p.ids[missing] = 1000
	run, err := p.paged(t.Context(), cache.LRU, DefaultBudget, refs)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.lostInFile(); run.TurnsLost != 2 || n != 2 {
		t.Errorf("%d turns lost in the window and %d in the file, want 2 and 2", run.TurnsLost, n)
	}
	r := Report{Paged: []Paging{run}, File: File{TurnsLost: 2, Findings: []string{"content block at offset 4096: damaged"}}}
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "2 turns are not as appended, 1 damaged places") || r.lost() != 5 {
		t.Errorf("%d losses, and the report says:\n%s", r.lost(), out.String())
	}
}

func TestTimingWithACoarseClock(t *testing.T) {
	const tick = 500 * time.Microsecond
	var calls time.Duration
	coarse := func() time.Duration { calls++; return (calls * 7 * time.Microsecond).Truncate(tick) }
	if got := resolution(coarse); got != tick {
		t.Errorf("a clock of %v seems to tick every %v", tick, got)
	}
	var samples []time.Duration
	for range 1000 {
		start := coarse()
		samples = append(samples, coarse()-start)
	}
	s := newTiming(samples, tick)
	if !s.coarse() {
		t.Errorf("percentiles of %+v would be printed", s)
	}
	r := Report{Latency: Latency{Content: s}}
	var out strings.Builder
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "mean "+short(s.Mean)) {
		t.Errorf("no mean in\n%s", out.String())
	}
}

func TestTimingPercentiles(t *testing.T) {
	var samples []time.Duration
	for i := 1000; i > 0; i-- {
		samples = append(samples, time.Duration(i)*time.Microsecond)
	}
	got := newTiming(samples, time.Microsecond)
	want := Timing{Samples: 1000, Mean: 500500 * time.Nanosecond, P50: 501 * time.Microsecond, P99: 991 * time.Microsecond, Tick: time.Microsecond}
	if got != want || got.coarse() {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 60728: "60,728", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{17: "17 ns", 9400: "9.4 us", 1_300_000: "1.3 ms"} {
		if got := short(d); got != want {
			t.Errorf("short(%d) = %q, want %q", d, got, want)
		}
	}
}
