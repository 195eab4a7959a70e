package sessionrefs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/cache"
	"ctxdb/cache/replay"
	"ctxdb/cmd/ctxdb/internal/sessionrefs"
	"ctxdb/fuzz/trial"
)

// sessions are those of the data with 30 recalls and more; of a series of
// snapshots the last.
var sessions = []string{
	"entire-authgo-pi/f1-c404717fe7-0.jsonl",
	"entire-cli-claude-code/38-ecf75f2f1d-0.jsonl",
	"entire-cli-claude-code/ad-a8171575ce-0.jsonl",
	"entire-cli-claude-code/f0-c3dbdad0d8-0.jsonl",
	"entire-gitsync-claude-code/0c-2a854b8908-0.jsonl",
	"entire-gitsync-claude-code/71-872426c9cd-0.jsonl",
	"entire-gitsync-codex/a6-9904c9f963-0.jsonl",
	"entire-graph-codex/03-0f3d39319d-0.jsonl",
	"entire-series-codex-019ddeed/07-8a-21e9e6fa95-1.jsonl",
	"pi-mono/large-session.jsonl",
}

func publishedTraces(t testing.TB) (traces []*replay.Trace) {
	paths, err := filepath.Glob(filepath.Join(trial.Data(t), "paging-traces", "*.csv"))
	if err != nil || len(paths) != 7 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		traces = append(traces, readTrace(t, path))
	}
	return traces
}

func readTrace(t testing.TB, path string) *replay.Trace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := replay.Read(strings.TrimSuffix(filepath.Base(path), ".csv"), f)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func extractedTraces(t testing.TB) (traces []*replay.Trace) {
	dir := trial.Data(t)
	for _, name := range sessions {
		traces = append(traces, sessionrefs.Extract(name, records(t, filepath.Join(dir, name))))
	}
	return traces
}

// The columns of the tables: budgets in tokens, or in hundredths of the session.
var columns = []struct {
	name   string
	tokens int64
	share  float64
}{{"16k", 16000, 0}, {"32k", 32000, 0}, {"64k", 64000, 0}, {"10 %", 0, 0.10}, {"25 %", 0, 0.25}}

// cell is a mean over traces, each counting the same.
type cell struct {
	rate   float64 // recall faults, in %
	tokens float64 // brought by faults, per recall
	money  float64 // in % of keeping everything
}

// row runs one set of options at all budgets.
func row(t testing.TB, traces []*replay.Trace, run func(*replay.Trace, replay.Options) cell, o replay.Options) (cells []cell) {
	t.Helper()
	n := float64(len(traces))
	for _, c := range columns {
		var mean cell
		for _, tr := range traces {
			o.Budget = c.tokens
			if c.share > 0 {
				_, total := tr.Sizes()
				o.Budget = int64(c.share * float64(total))
			}
			one := run(tr, o)
			mean = cell{mean.rate + one.rate/n, mean.tokens + one.tokens/n, mean.money + one.money/n}
		}
		cells = append(cells, mean)
	}
	return cells
}

func simulated(t testing.TB) func(*replay.Trace, replay.Options) cell {
	return func(tr *replay.Trace, o replay.Options) cell {
		run, err := replay.Simulate(context.Background(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		if run.Peak > run.Options.Budget {
			t.Errorf("%s: peak %d of a budget of %d", tr.Name, run.Peak, run.Options.Budget)
		}
		return cell{100 * run.FaultRate(), float64(run.FaultSize) / float64(run.Recalls), 100 * run.Money.OfKeepAll()}
	}
}

func oracle(t testing.TB) func(*replay.Trace, replay.Options) cell {
	return func(tr *replay.Trace, o replay.Options) cell {
		run, err := replay.Belady(context.Background(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		return cell{100 * run.FaultRate(), float64(run.FaultSize) / float64(run.Recalls), 100 * run.Money.OfKeepAll()}
	}
}

func bound(t testing.TB) func(*replay.Trace, replay.Options) cell {
	return func(tr *replay.Trace, o replay.Options) cell {
		b, err := replay.LowerBound(context.Background(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		return cell{100 * b.FaultRate(), b.FaultSize / float64(b.Recalls), 0}
	}
}

// table runs and prints; against is the row that others are compared with.
type table struct {
	t       *testing.T
	traces  []*replay.Trace
	against []cell
}

func (tb *table) add(name string, run func(*replay.Trace, replay.Options) cell, o replay.Options) []cell {
	cells := row(tb.t, tb.traces, run, o)
	if tb.against == nil {
		tb.against = cells
		tb.t.Logf("%-26s each: faults in %% of recalls, against the first row, tokens brought per recall, cost in %% of keeping everything", "")
	}
	line := fmt.Sprintf("%-26s", name)
	for i, c := range cells {
		line += fmt.Sprintf(" | %-4s %5.1f %+4.0f%% %5.0f %4.0f$", columns[i].name, c.rate, 100*(c.rate/tb.against[i].rate-1), c.tokens, c.money)
	}
	tb.t.Log(line)
	return cells
}

// The figures of the window on the published traces and on the sessions of the
// data, and the targets that they have to reach: run with -v for the tables.
func TestFigures(t *testing.T) {
	t.Run("published", func(t *testing.T) { testFigures(t, publishedTraces(t)) })
	t.Run("sessions", func(t *testing.T) { testFigures(t, extractedTraces(t)) })
}

func testFigures(t *testing.T, traces []*replay.Trace) {
	tb := &table{t: t, traces: traces}
	run := simulated(t)
	undoomed := func(p cache.Policy, page int64) replay.Options {
		return replay.Options{Policy: p, PageSize: page, KeepSuperseded: true}
	}
	lru := tb.add("LRU", run, undoomed(cache.LRU, 0))
	for _, p := range []cache.Policy{cache.CLOCK, cache.SIEVE, cache.S3FIFO, cache.GDSF, cache.IdleSize} {
		tb.add(string(p), run, undoomed(p, 0))
	}
	idle := tb.add("idlesize, superseded first", run, replay.Options{})
	tb.add("Belady-size", oracle(t), replay.Options{})
	limit := tb.add("lower bound", bound(t), replay.Options{})
	tb.add("LRU, pages", run, undoomed(cache.LRU, 1024))
	pages := tb.add("idlesize, pages", run, replay.Options{PageSize: 1024})
	tb.add("Belady-size, pages", oracle(t), replay.Options{PageSize: 1024})
	tb.add("lower bound, pages", bound(t), replay.Options{PageSize: 1024})
	for _, mark := range []float64{0.5, 0.7, 0.8, 0.9} {
		tb.add(fmt.Sprintf("idlesize, pages, to %.1f", mark), run, replay.Options{PageSize: 1024, LowWatermark: mark})
	}
	window := tb.add("the default: pages, to 0.6", run, replay.WindowOptions(0))
	tb.add("idlesize, turns, to 0.6", run, replay.Options{LowWatermark: 0.6})

	for i, least := range []struct{ fewer, gap float64 }{{0.06, 0.10}, {0.11, 0.13}, {0.22, 0.22}, {0.08, 0}, {0.15, 0}} {
		if got := 1 - idle[i].rate/lru[i].rate; got < least.fewer {
			t.Errorf("%s: idle-size has %.1f %% fewer faults than LRU, wanted %.0f %%", columns[i].name, 100*got, 100*least.fewer)
		}
		gap := (lru[i].rate - idle[i].rate) / (lru[i].rate - limit[i].rate)
		t.Logf("%s: idle-size closes %.1f %% of the gap between LRU and the bound", columns[i].name, 100*gap)
		if gap < least.gap {
			t.Errorf("%s: that is below %.0f %%", columns[i].name, 100*least.gap)
		}
	}
	for i := range columns {
		fewer, less := 1-pages[i].rate/lru[i].rate, 1-pages[i].tokens/lru[i].tokens
		if fewer < 0.12 || less < 0.45 {
			t.Errorf("%s: pages have %.1f %% fewer faults and %.1f %% fewer fault tokens", columns[i].name, 100*fewer, 100*less)
		}
		if i < 2 && window[i].money > 60 {
			t.Errorf("%s: a default window costs %.1f %% of keeping everything", columns[i].name, window[i].money)
		}
	}
}
