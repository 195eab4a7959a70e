package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// TestCreatorsMakeOneFile: who comes second opens what the first one made, and
// nobody's turn is lost.
func TestCreatorsMakeOneFile(t *testing.T) {
	for range trial.Size(10, 2) {
		path := filepath.Join(t.TempDir(), "a.ctxdb")
		var creators sync.WaitGroup
		uuids := make([]string, 6)
		for i := range uuids {
			creators.Go(func() {
				db, err := Open(path, &Options{LockWait: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				uuids[i] = db.UUID()
				appendTurns(t, db, Turn{Key: fmt.Sprint(i), Role: "user"})
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		creators.Wait()
		db := open(t, path, nil)
		for i, uuid := range uuids {
			if _, err := db.Lookup(fmt.Sprint(i)); err != nil || uuid != db.UUID() {
				t.Errorf("creator %d of file %s, opened %s: %v", i, uuid, db.UUID(), err)
			}
		}
		wellFormed(t, db)
		if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) != 1 {
			t.Errorf("left behind: %q", names)
		}
	}
}

// TestReopenBesideForks: between fork and exec a child has our open file. The
// lock is given back explicitly, so that it is free at once all the same.
func TestReopenBesideForks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	if err := exec.Command("true").Run(); err != nil {
		t.Skip(err)
	}
	stop := make(chan struct{})
	var forks sync.WaitGroup
	for range 3 {
		forks.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					exec.Command("true").Run()
				}
			}
		})
	}
	for i := range trial.Size(3000, 100) {
		db, err := Open(path, &Options{LockWait: -1})
		if err != nil {
			t.Fatalf("open %d, right after Close: %v", i, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	forks.Wait()
}

// incompressible is a turn whose segment is about as large as it.
func incompressible(seed uint64, n int) Turn {
	rng := rand.New(rand.NewPCG(seed, 9))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return Turn{Role: "user", Content: b}
}

// TestSealingWritesInSyncedPieces: a commit beside it never waits for more than
// one of them.
func TestSealingWritesInSyncedPieces(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true})
	unsynced, largest, written := 0, 0, 0
	mem.SetHook(func(op disk.Op) error {
		switch op.Kind {
		case disk.OpWrite:
			unsynced += op.Len
			written += op.Len
			largest = max(largest, unsynced)
		case disk.OpSync:
			unsynced = 0
		}
		return nil
	})
	appendTurns(t, db, incompressible(1, 3<<20)) // more than a log extent takes: sealed at once
	mem.SetHook(nil)
	if written < 3<<20 || largest > syncChunk+format.ExtentAlign {
		t.Errorf("%d bytes written, up to %d between two syncs", written, largest)
	}
	wellFormed(t, db)
}

// TestSealRewritesOneLeaf: of a catalog of many leaves a seal writes the last and
// the root.
func TestSealRewritesOneLeaf(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true, ReuseDelay: -1})
	var turns []Turn
	for i := range format.LeafEntries + 5 {
		turns = append(turns, Turn{Role: RoleMeta, Source: make([]byte, segmentBytes-100), Content: fmt.Append(nil, i)})
	}
	for len(turns) > 0 {
		n := min(40, len(turns))
		appendTurns(t, db, turns[:n]...)
		turns = turns[n:]
	}
	if n := len(db.view.Load().leaves); n < 2 {
		t.Fatalf("%d leaves", n)
	}
	leaves, roots := 0, 0
	mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpWrite && op.Len >= 8 {
			switch string(op.Data[:8]) {
			case "ctxleaf\n":
				leaves++
			case "ctxroot\n":
				roots++
			}
		}
		return nil
	})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one more")})
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	mem.SetHook(nil)
	if leaves != 1 || roots != 1 {
		t.Errorf("a seal wrote %d leaves and %d roots", leaves, roots)
	}
	wellFormed(t, db)
}

// TestSmallFilesStaySmall: log extents begin small, double, and are gone after
// Close.
func TestSmallFilesStaySmall(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, Inline: true})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")})
	size := db.view.Load().super.Log[0].Length
	if size != firstLogBytes {
		t.Errorf("the first log extent has %d bytes", size)
	}
	for i := range 40 {
		appendTurns(t, db, incompressible(uint64(i), 60<<10))
		for _, x := range db.view.Load().super.Log {
			if x.Length > 2*size {
				t.Fatalf("a log extent of %d bytes after one of %d", x.Length, size)
			}
			size = max(size, x.Length)
		}
	}
	if size < 8*firstLogBytes {
		t.Errorf("2.4 MB went through log extents of at most %d bytes", size)
	}
	wellFormed(t, db)
	mem = disk.NewMem(1)
	db = open(t, "/a", &Options{FS: mem})
	appendTurns(t, db, Turn{Role: "user", Content: []byte("one")})
	wellFormed(t, db)
	if n := len(mem.Bytes("/a")); n > 48<<10 {
		t.Errorf("a closed file of one turn has %d bytes", n)
	}
}

// TestStaleSuperblockBesideANewCatalog: the leading blocks are of an earlier
// state, as after a copy in pieces, and what they name has been used again.
// Nothing is shown that the earlier state did not have, and nothing otherwise.
func TestStaleSuperblockBesideANewCatalog(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	refused, damaged, exact := 0, 0, 0
	for round := range trial.Size(60, 10) {
		mem := disk.NewMem(uint64(round))
		o := Options{FS: mem, Inline: true, ReuseDelay: -1, LogBytes: 16 << 10}
		db := open(t, "/a", &o)
		var want []Turn
		grow := func(n int) {
			for range n {
				want = append(want, makeTurn(rng, len(want)+1))
				appendTurns(t, db, want[len(want)-1])
			}
		}
		grow(10 + rng.IntN(40))
		if err := db.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		early, earlier := mem.Bytes("/a")[:format.FirstExtent], len(want)
		grow(1 + rng.IntN(40))
		wellFormed(t, db)
		b := append([]byte(nil), mem.Bytes("/a")...)
		copy(b, early)
		stale := disk.NewMem(1)
		if err := stale.Put("/a", b); err != nil {
			t.Fatal(err)
		}
		db, err := Open("/a", &Options{FS: stale, ReadOnly: true})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTruncated) {
				t.Fatal(err)
			}
			refused++
			continue
		}
		n, bad := 0, 0
		for got, err := range db.Turns(1, 0) {
			if n++; n > earlier {
				t.Fatalf("turn %d of a state with %d", n, earlier)
			}
			if err != nil {
				if bad++; !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTruncated) {
					t.Fatal(err)
				}
			} else if err := sameTurn(want[n-1], got); err != nil {
				t.Fatal(err)
			}
		}
		if bad > 0 && count(db) == 0 {
			t.Error("verify found nothing")
		}
		if bad > 0 {
			damaged++
		} else {
			exact++
		}
		db.Close()
	}
	t.Logf("%d refused, %d with damaged turns, %d whole", refused, damaged, exact)
	if refused+damaged == 0 {
		t.Error("what the earlier state names was never used again")
	}
}
