//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctxdb/engine"
)

// TestInterruptedImport stops an import by SIGINT while it waits for more, after a batch
// was committed, and goes on with it.
func TestInterruptedImport(t *testing.T) {
	const turns = 4000
	in := chat(turns)
	db := filepath.Join(t.TempDir(), "a.ctxdb")
	cmd := exec.Command("ctxdb", "import", db, "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	half := in[:len(in)*3/4]
	half = half[:bytes.LastIndexByte(half, '\n')+1]
	if _, err := io.Copy(stdin, bytes.NewReader(half)); err != nil {
		t.Fatal(err)
	}
	committed := waitForTurns(t, db)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait() // stdin is still open
	if cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	if want := "run the same command again to go on"; !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("stderr: %q, want one line with %q", &stderr, want)
	}
	left := decode[fileReport](t, 0, "inspect", db)
	if left.Turns < committed || left.Turns >= turns || left.State != "closed" || left.Health != "healthy" {
		t.Fatalf("%d turns are left of at least %d committed, %s, %s", left.Turns, committed, left.State, left.Health)
	}
	if want := fmt.Sprintf("imported %s turns", count(left.Turns)); !strings.Contains(stdout.String(), want) {
		t.Errorf("stdout %q, want %q", &stdout, want)
	}
	out, errOut, code := command(bytes.NewReader(in), "import", db, "-")
	if want := fmt.Sprintf("imported %s turns (%s already there)", count(turns-left.Turns), count(left.Turns)); code != 0 || !strings.Contains(out, want) {
		t.Errorf("going on: exit code %d, %q, want %q\n%s", code, out, want, errOut)
	}
	if got := must(t, "export", db); got != string(in) {
		t.Errorf("export has %d bytes, want %d, and differs", len(got), len(in))
	}
}

// waitForTurns waits until another process has committed something.
func waitForTurns(t *testing.T, path string) uint64 {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		db, err := engine.Open(path, &engine.Options{ReadOnly: true})
		if err != nil {
			continue // not made yet
		}
		n := db.Stats().Turns
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return n
		}
	}
	t.Fatal("nothing was committed within a minute")
	return 0
}
