//go:build linux || freebsd || darwin

package segment

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"ctxdb/format/disk"
)

// TestWillNeedMoreThanThereIs: what is asked for ahead ends with the mapping,
// however far it would reach.
func TestWillNeedMoreThanThereIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "turns.ctxdb")
	if err := os.WriteFile(path, make([]byte, 3*mapAlign), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := disk.OS.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := mapFile(f, mapAlign+4096, mapAlign)
	if err != nil {
		t.Fatal(err)
	}
	defer m.unmap()
	for _, n := range []int{0, 1, mapAlign, math.MaxInt - 1, math.MaxInt} {
		for _, at := range []int{0, 1, mapAlign} {
			m.willNeed(at, n)
		}
	}
}
