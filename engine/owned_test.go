package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestReturnedMemoryIsOwned: what a caller was given stays as it is when the
// file is closed, cut, and gone, and what he writes into it reaches nobody.
func TestReturnedMemoryIsOwned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	want := cutFile(t, path)
	db := open(t, path, nil)
	logged := Turn{Role: "user", Content: []byte("in the log"), Source: []byte("its record")}
	want = append(want, logged)
	appendTurns(t, db, logged)
	type read struct{ content, source []byte }
	var given []read
	for range 2 { // the second reading comes after somebody wrote into what the first returned
		for i := range want {
			got, err := db.Get(TurnID(i + 1))
			if err != nil {
				t.Fatal(err)
			}
			source, err := db.Source(TurnID(i + 1))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Content, want[i].Content) || !bytes.Equal(source, want[i].Source) {
				t.Fatalf("turn %d differs", i+1)
			}
			given = append(given, read{bytes.Clone(got.Content), bytes.Clone(source)})
			if len(given) <= len(want) {
				clear(got.Content)
				clear(source)
				continue
			}
			given[i] = read{got.Content, source}
		}
	}
	db.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !bytes.Equal(given[i].content, want[i].Content) || !bytes.Equal(given[i].source, want[i].Source) {
			t.Errorf("turn %d changed under its reader", i+1)
		}
	}
}
