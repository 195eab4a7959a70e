package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"ctxdb/fuzz/trial"
)

// TestCloseWhileReadersRefreshLeavesNoMapping: a reader is closed while others
// follow a writer that seals. Nothing of the file stays mapped, and who comes
// too late is told.
func TestCloseWhileReadersRefreshLeavesNoMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapped.ctxdb")
	w := open(t, path, &Options{Inline: true, ReuseDelay: -1})
	var last atomic.Uint64
	for i := range trial.Size(60, 20) {
		r, err := Open(path, &Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for {
					for id := TurnID(1); id <= TurnID(last.Load())+2; id++ { // the last ones are not there yet
						if _, err := r.Get(id); errors.Is(err, ErrClosed) {
							return
						} else if err != nil && !errors.Is(err, ErrNotFound) {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		last.Store(uint64(appendTurns(t, w, Turn{Role: "user", Content: bytes.Repeat([]byte{byte(i)}, 100)})[0]))
		if err := w.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		readers.Wait()
	}
	wellFormed(t, w)
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	if n := bytes.Count(maps, []byte("mapped.ctxdb")); n > 0 {
		t.Errorf("%d mappings are left", n)
	}
}
