//go:build unix

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOSOpenPipe would wait for ever if a pipe were opened.
func TestOSOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := OS.Open(path, false); !errors.Is(err, errNotRegular) {
		t.Errorf("opened a pipe: %v", err)
	}
	_, err := OS.Open(filepath.Dir(path), false)
	mustBe(t, err, syscall.EISDIR)
}

// TestOSSharedLock: several readers may ask for the lock at the same instant,
// and none of them must take another for a writer.
func TestOSSharedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, nil, 0o600))
	a, err := OS.Open(path, false)
	must(t, err)
	defer a.Close()
	b, err := OS.Open(path, true)
	must(t, err)
	defer b.Close()
	must(t, a.(*osFile).control("lock", func(fd uintptr) error { return tryLock(fd, false) }))
	if other, err := b.LockedByOther(); other || err != nil {
		t.Errorf("a reader that asks looks like a writer: %v, %v", other, err)
	}
	mustBe(t, b.TryLock(), ErrWouldBlock)
	must(t, a.(*osFile).control("unlock", unlock))
	must(t, b.TryLock())
}

// TestLockTable enters a holder without the system's lock, as on systems whose
// locks do not conflict within a process.
func TestLockTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, nil, 0o600))
	a, err := OS.Open(path, true)
	must(t, err)
	b, err := OS.Open(path, true)
	must(t, err)
	defer b.Close()
	holder := a.(*osFile)
	if !claim(holder) || claim(b.(*osFile)) {
		t.Fatal("the table admits no holder, or two")
	}
	mustBe(t, b.TryLock(), ErrWouldBlock)
	if other, err := b.LockedByOther(); !other || err != nil {
		t.Errorf("LockedByOther %v, %v", other, err)
	}
	disclaim(b.(*osFile)) // not its entry
	if !claimed(holder.id) {
		t.Error("another handle removed the entry")
	}
	disclaim(holder)
	must(t, a.TryLock())
	must(t, a.Close())
	if claimed(holder.id) {
		t.Error("the entry outlived Close")
	}
	must(t, b.TryLock())
}
