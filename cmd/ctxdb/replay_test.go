package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/cache/replay"
	"ctxdb/engine"
	"ctxdb/fuzz/trial"
)

// TestReplayOfPublishedTrace: what is inferred from a session is what is published about
// it, whether it comes as a transcript or out of a file, and nobody beats the bound.
func TestReplayOfPublishedTrace(t *testing.T) {
	data := trial.Data(t)
	session := filepath.Join(data, "entire-gitsync-claude-code", "0c-2a854b8908-0.jsonl")
	db := filepath.Join(t.TempDir(), "a.ctxdb")
	must(t, "import", db, session)
	args := []string{"--budgets", "16k,25%", "--page-tokens", "whole,1024"}
	from := decode[replayReport](t, 0, append([]string{"replay", "--from-session", session}, args...)...)
	file := decode[replayReport](t, 0, append([]string{"replay", "--from-session", db}, args...)...)
	if from.Recalls < 100 || from.Recalls != file.Recalls || from.Tokens != file.Tokens || from.Items != file.Items {
		t.Errorf("transcript: %d recalls of %d items of %d tokens; file: %d, %d, %d", from.Recalls, from.Items, from.Tokens, file.Recalls, file.Items, file.Tokens)
	}
	for i, g := range from.Groups {
		bound := g.Rows[len(g.Rows)-1]
		if bound.Policy != replay.RowBound || len(g.Rows) != 8 {
			t.Fatalf("%d rows, the last is %q", len(g.Rows), bound.Policy)
		}
		for k, r := range g.Rows {
			if r.Faults < bound.Faults || r.PeakTokens > g.BudgetTokens || r.FaultRate != r.ObjectMissRatio {
				t.Errorf("budget %d, pages %d, %s: %+v; the bound is %f", g.BudgetTokens, g.PageTokens, r.Policy, r, bound.Faults)
			}
			if f := file.Groups[i].Rows[k]; f.Faults != r.Faults || f.FaultTokens != r.FaultTokens {
				t.Errorf("budget %d, pages %d, %s: %v faults by transcript, %v by file", g.BudgetTokens, g.PageTokens, r.Policy, r.Faults, f.Faults)
			}
		}
	}
}

// TestReplayOfRecordedPages: parts that were asked for alone are needed alone.
func TestReplayOfRecordedPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a line of a long result, one of very many\n", 1000)
	ids, err := db.Append(t.Context(), engine.Turn{Role: "tool_result", Content: []byte(long)}, engine.Turn{Role: "user", Content: []byte("short")})
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Window("main", engine.WindowOptions{BudgetTokens: 4000})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{3, 0, 3} {
		if _, _, err := w.Page(ids[0], part); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Get(ids[1]); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := decode[replayReport](t, 0, "replay", path, "--budgets", "4k", "--policies", "lru")
	tokens := int64(engine.EstimateTokens([]byte(long)) + engine.EstimateTokens([]byte("short")))
	if r.Refs != 4 || r.Items != 2 || r.Tokens != tokens {
		t.Errorf("%d references to %d items of %d tokens, want 4, 2 and %d", r.Refs, r.Items, r.Tokens, tokens)
	}
	if x := r.Recorded; x == nil || *x != (recorded{Window: "main", Refs: 4, Faults: 3}) {
		t.Errorf("recorded: %+v", x)
	}
	// Two pages and the short turn; the page asked for again is a hit. Pages are placed by
	// size, so a reference may touch a second one.
	if lru := r.Groups[0].Rows[0]; lru.Faults != 3 || lru.FaultTokens > 5*replay.DefaultPageSize || lru.FaultTokens < 2*replay.DefaultPageSize {
		t.Errorf("lru: %+v", lru)
	}
}

// TestPlotIsWhatItsNameSays decodes both formats, from the model and from a curve of one point.
func TestPlotIsWhatItsNameSays(t *testing.T) {
	dir := t.TempDir()
	one := filepath.Join(dir, "one.csv")
	if err := os.WriteFile(one, []byte("a,5\na,5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string][]string{"model": {"--model"}, "one": {"--trace", one}} {
		svg, png := filepath.Join(dir, name+".svg"), filepath.Join(dir, name+".png")
		must(t, append([]string{"replay", "--plot", svg}, source...)...)
		must(t, append([]string{"replay", "--plot", png}, source...)...)
		isSVG(t, svg)
		isPNG(t, png)
	}
}

func isSVG(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	paths := 0
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "path" {
			paths++
		}
	}
	for _, name := range []string{"idlesize", "lru", replay.RowBelady, replay.RowBound} {
		if !bytes.Contains(b, []byte(name)) {
			t.Errorf("%s: no %s", path, name)
		}
	}
	if paths < 8 {
		t.Errorf("%s: %d paths", path, paths)
	}
}

func isPNG(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[any]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			colours[img.At(x, y)] = true
		}
	}
	if len(colours) < 8 {
		t.Errorf("%s: %d colours", path, len(colours))
	}
}
