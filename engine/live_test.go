package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

// TestReadersBesideAWriter: another process appends, seals and reuses extents
// at full speed; readers open, read everything, verify, follow. They are never
// refused, see a gapless prefix of exact turns, and everything that was
// acknowledged before they looked.
func TestReadersBesideAWriter(t *testing.T) {
	duration := 6 * time.Second
	if trial.Brief() {
		duration = 2 * time.Second
	}
	path := filepath.Join(t.TempDir(), "live.ctxdb")
	c, acknowledged, collect := appendingChild(t, path)

	stop := time.Now().Add(duration)
	var readers sync.WaitGroup
	var opens, turns, lookups atomic.Int64
	for g := range 3 {
		readers.Go(func() {
			for time.Now().Before(stop) && !t.Failed() {
				readLive(t, path, g, acknowledged, &turns, &lookups)
				opens.Add(1)
			}
		})
	}
	readers.Wait()
	c.Process.Kill()
	collect.Wait()
	c.Wait()
	t.Logf("%d opens beside %d appends, %d turns and %d keys read", opens.Load(), acknowledged.Load(), turns.Load(), lookups.Load())
	wellFormed(t, open(t, path, nil))
}

// appendingChild starts a process that appends to path, and follows what it says
// is acknowledged: the highest id below which all were. collect is done when the
// process is.
func appendingChild(t *testing.T, path string) (c *exec.Cmd, acknowledged *atomic.Uint64, collect *sync.WaitGroup) {
	t.Helper()
	c, lines := startAppending(t, path)
	acknowledged, collect = new(atomic.Uint64), new(sync.WaitGroup)
	collect.Go(func() { followAcks(lines, acknowledged) })
	return c, acknowledged, collect
}

// followAcks keeps the highest id below which everything was acknowledged.
func followAcks(lines *bufio.Scanner, upTo *atomic.Uint64) {
	seen := map[uint64]bool{}
	for lines.Scan() {
		id, _, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			continue
		}
		seen[n] = true
		for next := upTo.Load() + 1; seen[next]; next++ {
			delete(seen, next)
			upTo.Store(next)
		}
	}
}

func readLive(t *testing.T, path string, g int, acknowledged *atomic.Uint64, turns, lookups *atomic.Int64) {
	before := acknowledged.Load()
	db, err := Open(path, &Options{ReadOnly: true, NoMap: g == 0})
	if err != nil {
		t.Errorf("open beside a writer: %v", err)
		return
	}
	defer db.Close()
	for round := range 3 {
		next := TurnID(1)
		var last Turn
		for got, err := range db.Turns(1, 0) {
			if err != nil || got.ID != next {
				t.Errorf("turn %d where %d is expected: %v", got.ID, next, err)
				return
			}
			if err := sameTurn(killedTurn(got.Key), got); err != nil {
				t.Errorf("turn %d: %v", got.ID, err)
				return
			}
			next++
			last = got
		}
		turns.Add(int64(next - 1))
		if uint64(next-1) < before {
			t.Errorf("round %d: %d turns, %d were acknowledged before", round, next-1, before)
			return
		}
		if last.ID != 0 {
			if id, err := db.Lookup(last.Key); err != nil || id != last.ID {
				t.Errorf("lookup: %d, %v", id, err)
			}
			lookups.Add(1)
		}
		if _, err := db.Lookup("nobody's"); !errors.Is(err, ErrNotFound) {
			t.Errorf("lookup of an absent key: %v", err)
		}
		before = acknowledged.Load()
		// A turn acknowledged since is found by a reader that is open already.
		if before > 0 {
			if _, err := db.Get(TurnID(before)); err != nil {
				t.Errorf("turn %d was acknowledged: %v", before, err)
			}
		}
	}
	for f, err := range db.Verify(ctx) {
		t.Errorf("verify beside a writer: %+v, %v", f, err)
		return
	}
}

// TestCopiesWhileWriting: a copy made while the log is recycled at full speed
// opens as a prefix that holds everything acknowledged before it began, or is
// refused.
func TestCopiesWhileWriting(t *testing.T) {
	copies := 400
	if trial.Brief() {
		copies = 100
	}
	const seed = 77
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	var opened, refused, appends int
	for opened+refused < copies && !t.Failed() {
		o, r, a := copyWhileWriting(t, rng)
		opened, refused, appends = opened+o, refused+r, appends+a
	}
	t.Logf("%d copies opened, %d refused, beside %d appends", opened, refused, appends)
	if opened == 0 {
		t.Error("no copy could be opened")
	}
}

// copyWhileWriting copies a young file while 1,000 turns are appended.
func copyWhileWriting(t *testing.T, rng *rand.Rand) (opened, refused, appends int) {
	dir := t.TempDir()
	path := filepath.Join(dir, "live.ctxdb")
	db := open(t, path, &Options{LogBytes: 64 << 10, Sync: SyncNever, ReuseDelay: -1})
	var acknowledged atomic.Uint64
	var over atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		defer over.Store(true)
		for i := range 1000 {
			ids, err := db.Append(ctx, killedTurn(fmt.Sprintf("c.%d", i)))
			if err != nil {
				t.Error(err)
				return
			}
			acknowledged.Store(uint64(ids[0]))
		}
	})
	for i := 0; !over.Load() && !t.Failed(); i++ {
		copied := filepath.Join(dir, "copy.ctxdb")
		before := acknowledged.Load()
		slowCopy(t, path, copied, rng)
		if checkCopy(t, copied, before, i%2 == 0) {
			opened++
		} else {
			refused++
		}
		os.Remove(copied)
	}
	writer.Wait()
	wellFormed(t, db)
	return opened, refused, int(acknowledged.Load())
}

// slowCopy copies front to back in small pieces, pausing here and there, as cp
// on a busy machine does.
func slowCopy(t *testing.T, from, to string, rng *rand.Rand) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	piece := int64(4096 << rng.IntN(7))
	for {
		n, err := io.CopyN(out, in, piece)
		if rng.IntN(30) == 0 {
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
		}
		if err == io.EOF || n == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkCopy reports whether the copy opened; every turn of one that did must
// be exact or an error, and nothing may be missing without a word.
func checkCopy(t *testing.T, path string, before uint64, readOnly bool) bool {
	t.Helper()
	db, err := Open(path, &Options{ReadOnly: readOnly})
	if err != nil {
		if !isDamage(err) {
			t.Errorf("refused as %v", err)
		}
		return false
	}
	defer db.Close()
	damaged := false
	next := TurnID(1)
	for got, err := range db.Turns(1, 0) {
		if got.ID != next {
			t.Errorf("turn %d where %d is expected: %v", got.ID, next, err)
			return false
		}
		next++
		if err != nil {
			if !isDamage(err) {
				t.Errorf("turn %d: %v", got.ID, err)
			}
			damaged = true
			continue
		}
		if err := sameTurn(killedTurn(got.Key), got); err != nil {
			t.Errorf("turn %d: %v", got.ID, err)
			return false
		}
	}
	if uint64(next-1) < before {
		t.Errorf("a copy with %d turns, %d were acknowledged before it began", next-1, before)
	}
	return !damaged
}
