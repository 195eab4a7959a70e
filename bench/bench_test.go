package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

var ctx = context.Background()

// seed of every workload here.
const seed = 20

// samples are durations of one operation each.
type samples []time.Duration

func (s samples) quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Nanoseconds()) / 1e3
}

// report adds p50 and p99 in microseconds.
func (s samples) report(b *testing.B, name string) {
	b.ReportMetric(s.quantile(.5), name+"-p50-us")
	b.ReportMetric(s.quantile(.99), name+"-p99-us")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// turns makes n turns of coding-session size, or takes real ones where the
// shared data is at hand.
func turns(b testing.TB, n int) []engine.Turn {
	if real := realTurns(b); len(real) > 0 {
		out := make([]engine.Turn, n)
		for i := range out {
			out[i] = real[i%len(real)]
			out[i].Key = fmt.Sprintf("%d", i)
		}
		return out
	}
	b.Log("shared data absent: made turns")
	return madeTurns(n)
}

func madeTurns(n int) []engine.Turn {
	rng := rand.New(rand.NewPCG(seed, seed))
	words := strings.Fields("func return error nil context index window segment block the a of to file line test pass fail open read write append commit sync parse token budget evict")
	out := make([]engine.Turn, n)
	for i := range out {
		var s strings.Builder
		for size := 300 + rng.IntN(3000); s.Len() < size; {
			s.WriteString(words[rng.IntN(len(words))])
			s.WriteString([]string{" ", " ", " ", "\n", "(x)"}[rng.IntN(5)])
		}
		out[i] = engine.Turn{Key: fmt.Sprintf("%d", i), Thread: "main", Role: "tool_result", Content: []byte(s.String())}
	}
	return out
}

// realTurns cuts the largest coding sessions of the shared data into turns of a
// line each.
func realTurns(b testing.TB) (out []engine.Turn) {
	dir, ok := trial.FindData()
	if !ok {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "entire-*-claude-code", "*.jsonl"))
	must(b, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		must(b, err)
		for line := range strings.Lines(string(data)) {
			if len(line) > 200 && len(line) < 16<<10 {
				out = append(out, engine.Turn{Thread: filepath.Base(f), Role: "tool_result", Content: []byte(line)})
			}
		}
	}
	return out
}

func openNew(b testing.TB, o *engine.Options) *engine.DB {
	db, err := engine.Open(filepath.Join(b.TempDir(), "bench.ctxdb"), o)
	must(b, err)
	b.Cleanup(func() { db.Close() })
	return db
}
