package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/fuzz/trial"
)

// TestReadmeSnippet compiles and runs README's program in an empty module, the
// way README says.
func TestReadmeSnippet(t *testing.T) {
	if trial.Brief() {
		t.Skip("builds a module")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := fenced(t, string(readme), "```go\npackage main")
	dir := t.TempDir()
	for name, content := range map[string]string{"main.go": program, "go.mod": "module embedder\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "edit", "-require", "ctxdb@v0.0.0", "-replace", "ctxdb="+root)
	got := run("run", ".")
	want := "#1 user: Where is the retry limit set?\n"
	if got != want || !strings.Contains(string(readme), strings.TrimSpace(want)) {
		t.Errorf("it printed %q, README says %q", got, want)
	}
}

// fenced returns the first code block that begins with start.
func fenced(t *testing.T, text, start string) string {
	t.Helper()
	i := strings.Index(text, start)
	if i < 0 {
		t.Fatalf("README has no block that begins with %q", start)
	}
	body := text[i+strings.Index(start, "\n")+1:]
	return body[:strings.Index(body, "```")]
}
