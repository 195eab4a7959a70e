package main

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
)

func made(t testing.TB) *workload.Set {
	t.Setenv("CTXDB_DATA", t.TempDir())
	set, err := workload.Coding()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestStores holds that every store keeps what it was given, under its number
// and its key, across a close: else its speed means nothing.
func TestStores(t *testing.T) {
	set := made(t)
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := p.open(dir, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range [][2]int{{0, 1}, {1, 1500}, {1500, 1501}} {
				if err := s.Append(set.Slice(r[0], r[1])); err != nil {
					t.Fatal(err)
				}
			}
			holds(t, s, set, 1501)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = p.open(dir, 1); err != nil {
				t.Fatal(err)
			}
			holds(t, s, set, 1501)
			if err := s.Append(set.Slice(1501, 1502)); err != nil {
				t.Fatal(err)
			}
			holds(t, s, set, 1502)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if n, err := diskBytes(dir); err != nil || n == 0 {
				t.Errorf("its files take %d bytes: %v", n, err)
			}
		})
	}
}

func holds(t *testing.T, s store, set *workload.Set, n int) {
	t.Helper()
	i := 0
	err := s.Scan(func(content []byte) {
		if !bytes.Equal(content, set.At(i).Content) {
			t.Errorf("scan: turn %d differs", i+1)
		}
		i++
	})
	if err != nil || i != n {
		t.Fatalf("scan: %d turns of %d, %v", i, n, err)
	}
	for i := 0; i < n; i += 1 + i/3 {
		content, err := s.Content([]byte("x"), uint64(i+1))
		if err != nil || string(content) != "x"+string(set.At(i).Content) {
			t.Errorf("turn %d differs: %v", i+1, err)
		}
		if id, err := s.Lookup(workload.Key(i)); err != nil || id != uint64(i+1) {
			t.Errorf("key of turn %d: %d, %v", i+1, id, err)
		}
	}
	if _, err := s.Lookup("no such key"); err == nil {
		t.Error("a key that was never appended was found")
	}
	if _, err := s.Content(nil, uint64(n+1)); err == nil {
		t.Error("a turn that was never appended was read")
	}
}

// TestWriters holds that each store keeps every turn of many writers.
func TestWriters(t *testing.T) {
	set := made(t)
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			const writers, each = 8, 10
			s, err := p.open(t.TempDir(), writers)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range each {
						if err := s.Append(set.Slice(w*each+i, w*each+i+1)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			var ids []uint64
			for i := range writers * each {
				id, err := s.Lookup(workload.Key(i))
				if err != nil {
					t.Fatal(err)
				}
				content, err := s.Content(nil, id)
				if err != nil || !bytes.Equal(content, set.At(i).Content) {
					t.Errorf("turn %d differs: %v", id, err)
				}
				ids = append(ids, id)
			}
			slices.Sort(ids)
			if ids = slices.Compact(ids); len(ids) != writers*each || ids[0] != 1 || ids[len(ids)-1] != writers*each {
				t.Errorf("%d ids from %d to %d", len(ids), ids[0], ids[len(ids)-1])
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	want := engine.Turn{Key: "k", Thread: "th", Role: "user", Time: time.Unix(3, 5), Content: []byte("content")}
	record := appendRecord(nil, &want)
	got, err := recordTurn(record)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for n := range len(record) - len(want.Content) {
		if _, err := recordTurn(record[:n]); err == nil {
			t.Errorf("cut to %d bytes: no error", n)
		}
		if _, err := recordContent(record[:n]); err == nil {
			t.Errorf("content of a record cut to %d bytes: no error", n)
		}
	}
}

// TestPhases runs each phase once on little work: its figures are there.
func TestPhases(t *testing.T) {
	set := made(t)
	dir := t.TempDir()
	for _, c := range []struct{ phase, figure string }{
		{"import", "part_blocks_bytes"}, {"open", "open_us"}, {"read", "fault_ratio"}, {"search", "search_p50_us"},
		{"append", "append_ratio"}, {"writers", "writers_gain"},
	} {
		at := task{Phase: c.phase, Peer: "ctxdb", Dir: dir, Turns: 2000, Ops: 50, Seconds: .05}
		if c.phase == "append" || c.phase == "writers" {
			at.Dir = t.TempDir()
		}
		f, err := phases[c.phase](at, ctxdbPeer, set)
		if err != nil {
			t.Fatalf("%s: %v", c.phase, err)
		}
		if f[c.figure] <= 0 {
			t.Errorf("%s: no %s in %v", c.phase, c.figure, f)
		}
	}
}
