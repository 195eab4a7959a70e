package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/engine"
)

// TestWindowWithoutPrompt: where the text of what is pinned is above the budget there
// is no prompt, which is said; the rest is shown.
func TestWindowWithoutPrompt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.ctxdb")
	db, err := engine.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := db.Append(t.Context(), engine.Turn{Role: "user", Tokens: 10, Content: []byte(strings.Repeat("more than was said ", 30))})
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Window("main", engine.WindowOptions{BudgetTokens: 50})
	if err == nil {
		err = w.Pin(ids[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	out, errOut, code := command(strings.NewReader(""), "window", file, "--name", "main", "--budget-tokens", "50")
	if code != 0 || !strings.Contains(out, " pinned ") || strings.Contains(out, "\nprompt ") || !strings.HasPrefix(errOut, "no prompt: ") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	if _, errOut, code := command(strings.NewReader(""), "window", file, "--name", "main", "--budget-tokens", "50", "--format", "text"); code != 1 || !strings.Contains(errOut, "budget") {
		t.Errorf("--format: exit code %d, %s", code, errOut)
	}
}

// TestInterruptedWindow ends while the turns go through.
func TestInterruptedWindow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.ctxdb")
	must(t, "append", file, "--role", "user", "sow the rye")
	db, err := engine.Open(file, &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f := windowFlags{opts: engine.WindowOptions{BudgetTokens: 100}}
	if _, err := f.look(ctx, db, file, io.Discard); err == nil || err.Error() != "interrupted" {
		t.Errorf("%v", err)
	}
}
