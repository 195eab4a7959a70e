package engine

import (
	"fmt"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// A writer that closes cuts the log off. A reader that is just reading it reads
// on in the state without one, wherever in its reading that happens.
func TestCloseWhileTheLogIsRead(t *testing.T) {
	for n := 1; ; n++ {
		mem := disk.NewMem(1)
		w := open(t, "/a", &Options{FS: mem, Inline: true})
		appendTurns(t, w, Turn{Role: "user", Content: []byte("first")})
		r := open(t, "/a", &Options{FS: mem, ReadOnly: true})
		ids := appendTurns(t, w, Turn{Role: "user", Content: []byte("second")})
		reads, done := 0, false
		mem.SetHook(func(op disk.Op) error {
			if done || op.Kind != disk.OpRead || op.Off < format.FirstExtent {
				return nil
			}
			if reads++; reads == n {
				done = true
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		got, err := r.Get(ids[0])
		mem.SetHook(nil)
		if err != nil || string(got.Content) != "second" {
			t.Fatalf("closed before read %d: %q, %v", n, got.Content, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if !done {
			t.Logf("%d reads", n-1)
			if n < 5 {
				t.Error(fmt.Errorf("the reader did not read the log"))
			}
			return
		}
	}
}
