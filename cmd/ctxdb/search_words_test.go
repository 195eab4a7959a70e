package main

import (
	"strings"
	"testing"
)

func TestLookout(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"where is the short read", "a short READ of readers", "a [short] [READ] of [readers]"},
		{"loadTable", "func loadTable()", "func [loadTable]()"},
		{"table", "func loadTable() // notable", "func load[Table]() // notable"},
		{"failing tests", "it failed: a test fails", "it [failed]: a [test] [fails]"},
		{"src/table.go", "see src/table.go:12", "see [src]/[table].[go]:12"},
		{"Äpfel", "ÄPFEL und İ äpfel", "[ÄPFEL] und İ [äpfel]"},
		{"the", "the end", "the end"},
		{"x", "", ""},
	} {
		got := newLookout(c.query).mark(c.text, "[", "]")
		if got != c.want {
			t.Errorf("%q in %q:\n got %q\nwant %q", c.query, c.text, got, c.want)
		}
	}
	l := newLookout("quinces wall")
	if got := l.line([]byte("quinces\nby the wall\nquinces at the wall\x1b[2J\n"), 80); got != `quinces at the wall\x1b[2J` {
		t.Errorf("line %q", got)
	}
	if got := l.line([]byte("nothing of it"), 80); got != "" {
		t.Errorf("line %q", got)
	}
	if got := l.line([]byte(strings.Repeat("über den Zaun ", 50)+"quinces behind"), 40); !strings.Contains(got, "quinces") || !strings.HasPrefix(got, "\u2026") {
		t.Errorf("line %q", got)
	}
}

// TestSearchShowsWhatStandsBefore: a line whose end has the word is shown with as much
// before it as there is room for.
func TestSearchShowsWhatStandsBefore(t *testing.T) {
	l := newLookout("limit")
	for _, c := range []struct{ text, want string }{
		{`{"file_path":"/home/dev/strategy.go","limit":100}`, `…h":"/home/dev/strategy.go","limit":100}`},
		{"one two three four five six seven eight the limit", "…four five six seven eight the limit"},
		{"short, with a limit", "short, with a limit"},
		{"é" + strings.Repeat("é", 40) + "-limit", "…" + strings.Repeat("é", 16) + "-limit"},
	} {
		if got := l.from(c.text, 40); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestSearchMarks(t *testing.T) {
	r := searchRow{Score: 1, ID: 7, Role: "user", Line: "two quinces"}
	look := newLookout("quince")
	if got := r.line(look, 100, true); !strings.HasSuffix(got, "two \x1b[1mquinces\x1b[0m") {
		t.Errorf("%q", got)
	}
	if got := r.line(look, 100, false); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}
