//go:build unix

package disk

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOSOpenPipe would wait for ever if a pipe were opened.
func TestOSOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := OS.Open(path, false); !errors.Is(err, errNotRegular) {
		t.Errorf("opened a pipe: %v", err)
	}
	_, err := OS.Open(filepath.Dir(path), false)
	mustBe(t, err, syscall.EISDIR)
}
