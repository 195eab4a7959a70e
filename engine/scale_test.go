package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

// TestMillionTinyTurns: a million turns in batches, closed, opened, looked up.
func TestMillionTinyTurns(t *testing.T) {
	if trial.Brief() {
		t.Skip("a million turns take a while")
	}
	const turns, perBatch = 1_000_000, 1000
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, nil)
	content := func(i int) []byte { return fmt.Appendf(nil, "tiny turn %d of a long life", i) }
	start := time.Now()
	batch := make([]Turn, perBatch)
	for i := 0; i < turns; i += perBatch {
		for j := range batch {
			batch[j] = Turn{Key: fmt.Sprint("k", i+j+1), Role: "user", Thread: "t", Content: content(i + j + 1)}
		}
		appendTurns(t, db, batch...)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	start = time.Now()
	db = open(t, path, nil)
	opened := time.Since(start)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("appended in %v, opened in %v, %d bytes of heap", took, opened, mem.HeapAlloc)
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 2000 {
		i := 1 + rng.IntN(turns)
		got, err := db.Get(TurnID(i))
		if err != nil || !bytes.Equal(got.Content, content(i)) {
			t.Fatalf("turn %d (seed %d): %q, %v", i, seed, got.Content, err)
		}
		if id, err := db.Lookup(got.Key); err != nil || id != TurnID(i) {
			t.Fatalf("key of turn %d: %d, %v", i, id, err)
		}
		if _, err := db.Lookup(fmt.Sprint("absent", i)); err == nil {
			t.Fatal("found a key that nobody has")
		}
	}
	s := db.Stats()
	t.Logf("%d turns, %d segments, %d key runs, %d bytes", s.Turns, len(s.Segments), s.KeyRuns, s.FileBytes)
	wellFormed(t, db)
}

// TestHugeTurn: 64 MiB in one turn, one part of it at a time, and its source.
func TestHugeTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, nil)
	const seed = 8
	rng := rand.New(rand.NewPCG(seed, seed))
	var b bytes.Buffer
	for b.Len() < 64<<20 {
		fmt.Fprintf(&b, "line %x of a build log\n", rng.Uint64())
	}
	want := Turn{Key: "huge", Role: "tool_result", Content: b.Bytes()}
	appendTurns(t, db, Turn{Role: "user", Content: []byte("before")})
	ids := appendTurns(t, db, want)
	appendTurns(t, db, Turn{Role: "user", Content: []byte("after")})
	for range 2 {
		got, err := db.Get(ids[0])
		if err != nil || !bytes.Equal(got.Content, want.Content) {
			t.Fatalf("%d bytes, %v", len(got.Content), err)
		}
		wellFormed(t, db)
		db = open(t, path, nil)
	}
	if _, err := db.Append(ctx, Turn{Content: make([]byte, 256<<20+1)}); err == nil {
		t.Error("content over the limit was accepted")
	}
	wellFormed(t, db)
}

// TestLogIsFilledAndReusedManyTimes: appends go on during sealing, in little
// log space, and the file does not grow with the log's turnover.
func TestLogIsFilledAndReusedManyTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, &Options{LogBytes: 64 << 10, ReuseDelay: -1, Sync: SyncNever})
	rng := rand.New(rand.NewPCG(1, 1))
	var want []Turn
	for i := range 3000 {
		want = append(want, makeTurn(rng, i+1))
		appendTurns(t, db, want[i])
	}
	s := db.Stats()
	if cycles := s.Log[len(s.Log)-1].Cycle; cycles < 20 {
		t.Errorf("only %d log cycles", cycles)
	}
	checkAll(t, db, want)
	wellFormed(t, db)
	db = open(t, path, nil)
	checkAll(t, db, want)
	s = db.Stats()
	if raw := s.ContentBytes + s.SourceBytes; s.FileBytes-s.FreeBytes > raw*6/10 || s.FreeBytes > s.FileBytes/2 {
		t.Errorf("%d bytes of content and source in a file of %d, %d of it free", raw, s.FileBytes, s.FreeBytes)
	}
	wellFormed(t, db)
}
