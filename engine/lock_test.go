package engine

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSecondWriterIsToldWhoHoldsTheLock: between processes, after a bounded
// wait, with the holder's process and host; a killed holder leaves nothing.
func TestSecondWriterIsToldWhoHoldsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	c := child("hold", path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan()
	_, err = Open(path, &Options{LockWait: 10 * time.Millisecond})
	var locked *LockedError
	if !errors.As(err, &locked) || !errors.Is(err, ErrLocked) {
		t.Fatalf("second writer: %v", err)
	}
	host, _ := os.Hostname()
	if locked.PID != uint64(c.Process.Pid) || locked.Host != host || locked.Since.IsZero() {
		t.Errorf("holder %+v, want process %d on %s", locked, c.Process.Pid, host)
	}
	c.Process.Kill()
	c.Wait()
	wellFormed(t, open(t, path, nil))
}

// TestSameFileTwiceInOneProcess: also by other names of it.
func TestSameFileTwiceInOneProcess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.ctxdb")
	db := open(t, path, nil)
	symlink, hard := filepath.Join(dir, "symlink"), filepath.Join(dir, "hard")
	if err := os.Symlink(path, symlink); err != nil {
		t.Skip(err)
	}
	if err := os.Link(path, hard); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, symlink, hard} {
		if _, err := Open(name, &Options{LockWait: -1}); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	// Closing another descriptor of the file changes nothing about the lock.
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	reader := open(t, path, &Options{ReadOnly: true})
	wellFormed(t, reader)
	if _, err := Open(path, &Options{LockWait: -1}); !errors.Is(err, ErrLocked) {
		t.Errorf("after another descriptor was closed: %v", err)
	}
	wellFormed(t, db)
	wellFormed(t, open(t, symlink, nil))
}

// TestReplacedFile: a writer whose file was removed, renamed or replaced writes
// nothing more.
func TestReplacedFile(t *testing.T) {
	for what, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("another"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"renamed, another in its place": func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			other, err := Open(path, nil)
			if err != nil {
				return err
			}
			return other.Close()
		},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.ctxdb")
			db := open(t, path, nil)
			appendTurns(t, db, Turn{Role: "user", Content: []byte("x")})
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Append(ctx, Turn{Role: "user"}); !errors.Is(err, ErrBroken) {
				t.Errorf("append: %v", err)
			}
			if got, err := db.Get(1); err != nil || string(got.Content) != "x" {
				t.Errorf("reading goes on: %v", err)
			}
			if err := db.Close(); !errors.Is(err, ErrBroken) {
				t.Errorf("close: %v", err)
			}
		})
	}
}
