package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReportShowsMediansAndRatios(t *testing.T) {
	r := newReport(settings{turns: 7, rounds: 3}, made(t), []peer{ctxdbPeer, bboltPeer}, map[string][]figures{
		"ctxdb": {{"lookup_p50_us": 4}, {"lookup_p50_us": 100}, {"lookup_p50_us": 3}},
		"bbolt": {{"lookup_p50_us": 2}, {"lookup_p50_us": 1}, {"lookup_p50_us": 300}},
	})
	var out strings.Builder
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) > 1 {
			rows[f[0]] = strings.Join(f[1:], " ")
		}
	}
	if rows["ctxdb"] != "4.0 - - 1.00" || rows["bbolt"] != "2.0 - - 0.50" {
		t.Errorf("%s", out.String())
	}
	if strings.Contains(out.String(), "Durable") {
		t.Errorf("a table without rows:\n%s", out.String())
	}
}

// TestReportIsKept holds that a saved report is printed and drawn like a new one.
func TestReportIsKept(t *testing.T) {
	made := newReport(settings{turns: 7, rounds: 1}, made(t), []peer{ctxdbPeer, bboltPeer}, map[string][]figures{
		"ctxdb": {{"import_s": 4, "append_p50_us": 3}}, "bbolt": {{"import_s": 2, "append_p50_us": 9}},
	})
	data, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := settings{from: path}.report(nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after strings.Builder
	if err := made.print(&before); err != nil {
		t.Fatal(err)
	}
	if err := kept.print(&after); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() {
		t.Errorf("printed\n%s\nand after it was saved\n%s", &before, &after)
	}
	plot := filepath.Join(dir, "report.svg")
	if err := draw(plot, kept); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(plot)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"<svg", "bulk import", "bbolt", "ctxdb"} {
		if !strings.Contains(string(drawn), word) {
			t.Errorf("the drawing has no %q", word)
		}
	}
	if err := draw(filepath.Join(dir, "report.txt"), kept); err == nil {
		t.Error("a drawing of an unknown form")
	}
}
