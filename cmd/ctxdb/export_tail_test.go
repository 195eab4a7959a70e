package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"ctxdb/engine"
)

const (
	tailOne   = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"alpha","message":{"role":"user","content":"first"}}`
	tailTwo   = `{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"alpha","message":{"role":"user","content":"second"}}`
	tailThree = `{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"alpha","message":{"role":"user","content":"third"}}`
)

// TestExportWithoutNewline: files that end right behind a record, and what they grow into,
// come out byte for byte. (Growth by a final newline alone is the one exception that
// package transcript names.)
func TestExportWithoutNewline(t *testing.T) {
	for name, stages := range map[string][]string{
		"one":         {tailOne},
		"glued":       {tailOne + tailTwo},
		"one, a line": {tailOne, tailOne + "\n" + tailTwo, tailOne + "\n" + tailTwo + "\n" + tailThree + "\n"},
		"one, glued":  {tailOne, tailOne + tailTwo, tailOne + tailTwo + "\r\n"},
		"plain":       {`{"role":"user","content":"a"}`, `{"role":"user","content":"a"}{"role":"user","content":"b"}`},
		"plain glued": {`{"role":"user","content":"a"}{"role":"assistant","content":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, file := filepath.Join(dir, "a.ctxdb"), filepath.Join(dir, "in.jsonl")
			for i, in := range stages {
				if err := os.WriteFile(file, []byte(in), 0o600); err != nil {
					t.Fatal(err)
				}
				must(t, "import", db, file)
				if got := must(t, "export", db); got != in {
					t.Fatalf("stage %d:\n got %q\nwant %q", i, got, in)
				}
				if again := decode[importReport](t, 0, "import", db, file); again.Imported != 0 {
					t.Fatalf("stage %d: %d turns imported twice", i, again.Imported)
				}
			}
		})
	}
}

// TestExportTailWithoutSource: files of before, whose empty tail has no source.
func TestExportTailWithoutSource(t *testing.T) {
	dir := t.TempDir()
	full, file := filepath.Join(dir, "a.ctxdb"), filepath.Join(dir, "in.jsonl")
	if err := os.WriteFile(file, []byte(tailOne), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "import", full, file)
	old := filepath.Join(dir, "old.ctxdb")
	err := reading(full, func(from *engine.DB) error {
		to, err := engine.Open(old, nil)
		if err != nil {
			return err
		}
		for turn, err := range from.Sources(0, 0) {
			if err != nil {
				return err
			}
			if len(turn.Source) == 0 {
				turn.Source = nil
			}
			turn.ReplyTo = 0
			if _, err := to.Append(context.Background(), turn); err != nil {
				return err
			}
		}
		return to.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, "export", old); !bytes.Equal([]byte(got), []byte(tailOne)) {
		t.Errorf("got %q", got)
	}
}
