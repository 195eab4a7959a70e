package sessionrefs_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/cache/replay"
	"ctxdb/cmd/ctxdb/internal/sessionrefs"
	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/fuzz/trial"
)

// records reads a session; pi's, which transcript does not read, line by line.
func records(t testing.TB, path string) iter.Seq[sessionrefs.Record] {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(sessionrefs.Record) bool) {
		if strings.Contains(path, "pi-mono") || strings.Contains(path, "authgo-pi") {
			lines := bufio.NewScanner(bytes.NewReader(raw))
			lines.Buffer(nil, 64<<20)
			for lines.Scan() && yield(sessionrefs.Record{Source: bytes.Clone(lines.Bytes())}) {
			}
			return
		}
		r := transcript.NewReader(bytes.NewReader(raw), transcript.Options{})
		for {
			turn, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !yield(sessionrefs.FromTranscript(turn)) {
				return
			}
		}
	}
}

// published pairs the traces of paging-traces with the sessions they came from.
// The session of the seventh, authgo-pi_74-07-0, is not among the data.
var published = []struct{ trace, session string }{
	{"cli-cc_38-ec-0", "entire-cli-claude-code/38-ecf75f2f1d-0.jsonl"},
	{"cli-cc_f0-c3-0", "entire-cli-claude-code/f0-c3dbdad0d8-0.jsonl"},
	{"gitsync-cc_0c-2a-0", "entire-gitsync-claude-code/0c-2a854b8908-0.jsonl"},
	{"gitsync-cc_71-87-0", "entire-gitsync-claude-code/71-872426c9cd-0.jsonl"},
	{"gitsync-codex_a6-99-0", "entire-gitsync-codex/a6-9904c9f963-0.jsonl"},
	{"pi-mono_largeon", "pi-mono/large-session.jsonl"},
}

// The references found are those that were published, but for a few.
func TestPublishedTraces(t *testing.T) {
	dir := trial.Data(t)
	kinds := []replay.Kind{replay.New, replay.Tail, replay.Reread, replay.Edit, replay.Quote, replay.DeadReread, replay.DeadEdit}
	total := make(map[replay.Kind][3]int)
	for _, pair := range published {
		f, err := os.Open(filepath.Join(dir, "paging-traces", pair.trace+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := replay.Read(pair.trace, f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := sessionrefs.Extract(pair.trace, records(t, filepath.Join(dir, pair.session)))
		_, wantTokens := want.Sizes()
		_, gotTokens := got.Sizes()
		line := fmt.Sprintf("%-22s tokens %6d %6d", pair.trace, wantTokens, gotTokens)
		for _, kind := range kinds {
			w, g := places(want, kind), places(got, kind)
			both := 0
			for at, n := range w {
				both += min(n, g[at])
			}
			line += fmt.Sprintf(" | %v %d %d %d", kind, sum(w), sum(g), both)
			was := total[kind]
			total[kind] = [3]int{was[0] + sum(w), was[1] + sum(g), was[2] + both}
		}
		t.Log(line)
	}
	for _, kind := range kinds {
		n := total[kind]
		off := 100 * float64(n[1]-n[0]) / float64(n[0])
		same := 100 * float64(n[2]) / float64(n[0])
		t.Logf("%-11v published %5d  found %5d (%+.1f %%)  of the same step and size %5d (%.0f %%)", kind, n[0], n[1], off, n[2], same)
		if off < -3.5 || off > 3.5 || same < 80 {
			t.Errorf("%v: %+.1f %% against the published traces, %.0f %% the same", kind, off, same)
		}
	}
}

// place is a reference by its step and the size of its item: items are numbered
// differently when one is missing.
type place struct {
	step replay.Step
	size int64
}

func places(t *replay.Trace, kind replay.Kind) map[place]int {
	n := make(map[place]int)
	for i := range t.Refs {
		if r := &t.Refs[i]; r.Kind == kind {
			n[place{r.Step, r.Size}]++
		}
	}
	return n
}

func sum[K cmp.Ordered | place](n map[K]int) (total int) {
	for _, k := range n {
		total += k
	}
	return total
}
