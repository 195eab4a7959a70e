//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenInputOfPipe: a pipe that nobody writes to is waited for until an
// interrupt, and read when somebody does.
func TestOpenInputOfPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := openInput(ctx, pipe); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, err := openInput(context.Background(), pipe)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if isRegular(pipe) {
		t.Error("a pipe passes for a regular file")
	}
}
