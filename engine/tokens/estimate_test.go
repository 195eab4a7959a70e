package tokens

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

// TestEstimate measures how far engine.EstimateTokens is from the two
// vocabularies on pieces of 4 KiB of real sessions.
func TestEstimate(t *testing.T) {
	dir := trial.Data(t)
	for _, kind := range []string{"locomo/*.json", "entire-cli-claude-code/*.jsonl", "entire-gitsync-codex/*.jsonl", "specstory/*.md", "tau-bench/*.json"} {
		files, _ := filepath.Glob(filepath.Join(dir, kind))
		if len(files) == 0 {
			t.Logf("%s: not here", kind)
			continue
		}
		for name, count := range map[string]func([]byte) int{"cl100k": CL100K(), "o200k": O200K()} {
			var errors []float64
			guess, real := 0, 0
			for _, f := range files[:min(len(files), 3)] {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				for at := 0; at+4096 <= len(b) && len(errors) < 150; at += max(4096, len(b)/50) {
					g, r := engine.EstimateTokens(b[at:at+4096]), count(b[at:at+4096])
					guess, real = guess+g, real+r
					errors = append(errors, math.Abs(float64(g)/float64(r)-1))
				}
			}
			if len(errors) == 0 {
				continue
			}
			slices.Sort(errors)
			sum := float64(guess)/float64(real) - 1
			t.Logf("%-32s %s: estimate %+.1f %% in sum; a piece is off by %.1f %% (p50), %.1f %% (p90)", kind, name, 100*sum, 100*errors[len(errors)/2], 100*errors[len(errors)*9/10])
			if math.Abs(sum) > 0.6 {
				t.Errorf("%s: the estimate is off by %.0f %%", kind, 100*sum)
			}
		}
	}
}
