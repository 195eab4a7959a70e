package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

var ctx = context.Background()

func open(t testing.TB, path string, o *Options) *DB {
	t.Helper()
	db, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func appendTurns(t testing.TB, db *DB, turns ...Turn) []TurnID {
	t.Helper()
	ids, err := db.Append(ctx, turns...)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// wellFormed holds a DB against verify and closes it.
func wellFormed(t testing.TB, db *DB) {
	t.Helper()
	for f, err := range db.Verify(ctx) {
		t.Errorf("verify: %+v, %v", f, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// makeTurn makes the i-th turn of a workload: some short, some of several parts.
func makeTurn(rng *rand.Rand, i int) Turn {
	var b bytes.Buffer
	n := 20 + rng.IntN(300)
	if i%17 == 0 {
		n = 3000 + rng.IntN(6000)
	}
	for b.Len() < n {
		fmt.Fprintf(&b, "turn %d says %x about the %s\n", i, rng.Uint64(), []string{"parser", "index", "window", "log"}[rng.IntN(4)])
	}
	t := Turn{
		Key: fmt.Sprintf("key-%d", i), Thread: "main", Role: []string{"user", "assistant", "tool_result"}[i%3],
		Time: time.Unix(1_700_000_000+int64(i), int64(rng.IntN(1e9))).In(time.FixedZone("", 3600)), Content: b.Bytes(),
		Tags: []string{"t"}, Entities: []string{"main.go"}, Decision: i%5 == 0,
	}
	if i%2 == 0 {
		t.Source = fmt.Appendf(nil, "{\"uuid\":%d,\"content\":%q}\n", i, b.String())
	}
	if i > 1 {
		t.ReplyKey = fmt.Sprintf("key-%d", i-1)
	}
	return t
}

// sameTurn compares what was appended with what was read.
func sameTurn(want, got Turn) error {
	switch {
	case want.Key != got.Key || want.Thread != got.Thread || want.Role != got.Role || want.Summary != got.Summary || want.Decision != got.Decision:
		return fmt.Errorf("a name differs: %q %q %q", got.Key, got.Thread, got.Role)
	case !bytes.Equal(want.Content, got.Content):
		return fmt.Errorf("content differs: %d bytes for %d", len(got.Content), len(want.Content))
	case !want.Time.Equal(got.Time) || want.Time.Format(time.RFC3339Nano) != got.Time.Format(time.RFC3339Nano):
		return fmt.Errorf("time differs: %v for %v", got.Time, want.Time)
	case strings.Join(want.Tags, ",") != strings.Join(got.Tags, ",") || strings.Join(want.Entities, ",") != strings.Join(got.Entities, ","):
		return fmt.Errorf("labels differ")
	}
	return nil
}

func checkAll(t testing.TB, db *DB, want []Turn) {
	t.Helper()
	n := 0
	for got, err := range db.Turns(1, 0) {
		if err != nil {
			t.Fatalf("turn %d: %v", got.ID, err)
		}
		if got.ID != TurnID(n+1) || n >= len(want) {
			t.Fatalf("turn %d where %d of %d is expected", got.ID, n+1, len(want))
		}
		if err := sameTurn(want[n], got); err != nil {
			t.Fatalf("turn %d: %v", got.ID, err)
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("%d turns of %d", n, len(want))
	}
	for i := range want {
		id := TurnID(i + 1)
		got, err := db.Get(id)
		if err == nil {
			err = sameTurn(want[i], got)
		}
		if err != nil {
			t.Fatalf("get %d: %v", id, err)
		}
		if k, err := db.Lookup(want[i].Key); err != nil || k != id {
			t.Fatalf("lookup of %q: %d, %v", want[i].Key, k, err)
		}
		src, err := db.Source(id)
		if err != nil || !bytes.Equal(src, want[i].Source) || (src == nil) != (want[i].Source == nil) {
			t.Fatalf("source of %d: %d bytes for %d, %v", id, len(src), len(want[i].Source), err)
		}
	}
}

func TestAppendReadReopen(t *testing.T) {
	for _, inline := range []bool{true, false} {
		for _, mem := range []bool{true, false} {
			t.Run(fmt.Sprintf("inline=%v/mem=%v", inline, mem), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.ctxdb")
				o := Options{Inline: inline, LogBytes: 64 << 10, ReuseDelay: -1}
				if mem {
					o.FS, path = disk.NewMem(1), "/a.ctxdb"
				}
				rng := rand.New(rand.NewPCG(1, 2))
				var want []Turn
				for life := range 4 {
					db := open(t, path, &o)
					for range trial.Size(200, 50) {
						n := 1 + rng.IntN(4)
						var batch []Turn
						for range n {
							batch = append(batch, makeTurn(rng, len(want)+len(batch)+1))
						}
						ids := appendTurns(t, db, batch...)
						for i, id := range ids {
							if id != TurnID(len(want)+i+1) {
								t.Fatalf("id %d for turn %d", id, len(want)+i+1)
							}
						}
						want = append(want, batch...)
					}
					checkAll(t, db, want)
					ro := o
					ro.ReadOnly = true
					reader := open(t, path, &ro)
					checkAll(t, reader, want)
					wellFormed(t, reader)
					if life == 2 {
						if err := db.Checkpoint(ctx); err != nil {
							t.Fatal(err)
						}
						checkAll(t, db, want)
					}
					wellFormed(t, db)
				}
				db := open(t, path, &o)
				checkAll(t, db, want)
				s := db.Stats()
				t.Logf("%d turns in %d segments, %d bytes of %d", s.Turns, len(s.Segments), s.FileBytes, s.ContentBytes+s.SourceBytes)
				wellFormed(t, db)
			})
		}
	}
}

func TestCrashedFileIsRecovered(t *testing.T) {
	mem := disk.NewMem(3)
	o := Options{FS: mem, Inline: true, LogBytes: 64 << 10}
	rng := rand.New(rand.NewPCG(5, 6))
	db := open(t, "/a", &o)
	var want []Turn
	for i := range 300 {
		want = append(want, makeTurn(rng, i+1))
		appendTurns(t, db, want[i])
	}
	after := mem.Crash(disk.Variant{})
	o.FS = after
	again := open(t, "/a", &o)
	checkAll(t, again, want)
	if r := again.Recovery(); r.Clean || r.Lost > 0 {
		t.Errorf("recovery: %+v", r)
	}
	wellFormed(t, again)
}

func TestConcurrentAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, &Options{LogBytes: 64 << 10})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				key := fmt.Sprintf("%d-%d", g, i)
				ids, err := db.Append(ctx, Turn{Key: key, Role: "user", Content: bytes.Repeat([]byte(key), 100)})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := db.Get(ids[0])
				if err != nil || got.Key != key {
					t.Errorf("%s: %q, %v", key, got.Key, err)
				}
			}
		})
	}
	wg.Wait()
	if s := db.Stats(); s.Turns != 800 {
		t.Errorf("%d turns", s.Turns)
	}
	wellFormed(t, db)
}

func TestRepeatedKeys(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(1)})
	a := Turn{Key: "k", Role: "user", Content: []byte("one")}
	first := appendTurns(t, db, a)
	if again := appendTurns(t, db, a); again[0] != first[0] {
		t.Errorf("id %d for %d", again[0], first[0])
	}
	b := a
	b.Content = []byte("two")
	if _, err := db.Append(ctx, Turn{Role: "user", Content: []byte("x")}, b); !errors.Is(err, ErrKeyExists) {
		t.Errorf("%v", err)
	}
	if ids := appendTurns(t, db, Turn{Key: "n", Content: []byte("n")}, Turn{Key: "n", Content: []byte("n")}, Turn{ReplyKey: "n"}); ids[0] != 2 || ids[1] != 2 || ids[2] != 3 {
		t.Errorf("%v", ids)
	}
	if got, _ := db.Get(3); got.ReplyTo != 2 {
		t.Errorf("reply to %d", got.ReplyTo)
	}
	if _, err := db.Append(ctx, Turn{ReplyTo: 9}); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	wellFormed(t, db)
}

func TestLargeBatches(t *testing.T) {
	mem := disk.NewMem(1)
	o := Options{FS: mem, LogBytes: 256 << 10}
	db := open(t, "/a", &o)
	rng := rand.New(rand.NewPCG(5, 6))
	var want []Turn
	for _, n := range []int{1, 2000, 3, 400, 1} {
		var batch []Turn
		for range n {
			batch = append(batch, makeTurn(rng, len(want)+len(batch)+1))
		}
		appendTurns(t, db, batch...)
		want = append(want, batch...)
	}
	checkAll(t, db, want)
	o.FS = mem.Crash(disk.Variant{})
	again := open(t, "/a", &o)
	checkAll(t, again, want)
	wellFormed(t, again)
	wellFormed(t, db)
}

// TestWhereInTheLog: a writer and a reader agree about where a logged turn is.
func TestWhereInTheLog(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("two")}, Turn{Role: "user", Content: []byte("three")})
	reader := open(t, "/a", &Options{FS: mem, ReadOnly: true})
	for id := TurnID(1); id <= 3; id++ {
		a, err := db.Where(id)
		if err != nil {
			t.Fatal(err)
		}
		b, err := reader.Where(id)
		if err != nil || len(a) != 1 || len(b) != 1 || a[0] != b[0] || a[0].Offset == 0 {
			t.Errorf("turn %d: %+v for the writer, %+v for a reader, %v", id, a, b, err)
		}
	}
	wellFormed(t, reader)
	wellFormed(t, db)
}
