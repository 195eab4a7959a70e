package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// TestConcurrentLives: in each life of a file everything happens at once: appends
// with contexts that end, checkpoints, syncs, iterations, windows, searches, and
// three calls of Close, under a clock that runs backwards. Whatever was
// acknowledged is there in the next life, once, and nothing that was never
// appended.
func TestConcurrentLives(t *testing.T) {
	l := lives{t: t, path: filepath.Join(t.TempDir(), "a.ctxdb"), acked: map[string]TurnID{}, tried: map[string]bool{}}
	for n := range trial.Size(18, 6) {
		if l.live(n); t.Failed() {
			return
		}
		l.check()
	}
	t.Logf("%d turns acknowledged, %d tried", len(l.acked), len(l.tried))
}

type lives struct {
	t    *testing.T
	path string

	mu    sync.Mutex
	acked map[string]TurnID
	tried map[string]bool
}

func (l *lives) live(n int) {
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	db := open(l.t, l.path, &Options{
		LogBytes: 64 << 10, ReuseDelay: []time.Duration{-1, 0}[n%2], NoMap: n%5 == 0,
		Sync: []SyncPolicy{SyncAlways, SyncInterval, SyncNever}[n%3],
		Now:  func() time.Time { return time.Unix(0, clock.Add(-int64(time.Second))) },
	})
	var all sync.WaitGroup
	for g := range 6 {
		all.Go(func() { l.append(db, n, g) })
	}
	for _, f := range []func(i int) error{
		func(int) error { return db.Checkpoint(ctx) },
		func(int) error { return db.Sync(ctx) },
		func(int) error { return l.iterate(db) },
		func(int) error { _, err := db.Search(ctx, Query{Text: "of the writer"}); return err },
		func(i int) error {
			w, err := db.Window("w", WindowOptions{BudgetTokens: 3000})
			if err == nil {
				_, _, err = w.Get(TurnID(1 + i%50))
			}
			if errors.Is(err, ErrNotFound) || errors.Is(err, ErrOverBudget) {
				return nil
			}
			return err
		},
	} {
		all.Go(func() {
			for i := 0; ; i++ {
				if err := f(i); errors.Is(err, ErrClosed) {
					return
				} else if err != nil {
					l.t.Errorf("life %d: %v", n, err)
					return
				}
			}
		})
	}
	time.Sleep(time.Duration(20+10*n) * time.Millisecond)
	var closed atomic.Int64
	for range 3 {
		all.Go(func() {
			if err := db.Close(); err == nil {
				closed.Add(1)
			} else if !errors.Is(err, ErrClosed) {
				l.t.Errorf("life %d: %v", n, err)
			}
		})
	}
	all.Wait()
	if closed.Load() != 1 {
		l.t.Errorf("life %d: closed %d times", n, closed.Load())
	}
}

func (l *lives) append(db *DB, life, g int) {
	rng := rand.New(rand.NewPCG(uint64(life), uint64(g)))
	for i := 0; ; i++ {
		c, cancel := context.WithCancel(ctx)
		if rng.IntN(4) == 0 {
			c, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(3000))*time.Microsecond)
		}
		n := 1
		if rng.IntN(20) == 0 {
			n = 1 + rng.IntN(200)
		}
		var batch []Turn
		l.mu.Lock()
		for k := range n {
			batch = append(batch, killedTurn(fmt.Sprintf("%d.%d.%d.%d", life, g, i, k)))
			l.tried[batch[k].Key] = true
		}
		l.mu.Unlock()
		ids, err := db.Append(c, batch...)
		cancel()
		switch {
		case err == nil:
			l.mu.Lock()
			for k, id := range ids {
				l.acked[batch[k].Key] = id
			}
			l.mu.Unlock()
		case errors.Is(err, ErrClosed):
			return
		case !errors.Is(err, context.DeadlineExceeded):
			l.t.Errorf("append: %v", err)
			return
		}
	}
}

func (l *lives) iterate(db *DB) error {
	next := TurnID(1)
	for got, err := range db.Turns(1, 0) {
		if err == nil && got.ID != next {
			err = fmt.Errorf("turn %d where %d is expected", got.ID, next)
		}
		if err == nil {
			err = sameTurn(killedTurn(got.Key), got)
		}
		if err != nil {
			return err
		}
		next++
	}
	return nil
}

// check reads the closed file.
func (l *lives) check() {
	db := open(l.t, l.path, &Options{ReadOnly: true})
	seen := map[string]TurnID{}
	for got, err := range db.Turns(1, 0) {
		switch {
		case err != nil:
			l.t.Fatal(err)
		case !l.tried[got.Key]:
			l.t.Fatalf("invented: %q", got.Key)
		case seen[got.Key] != 0:
			l.t.Fatalf("%q is turn %d and turn %d", got.Key, seen[got.Key], got.ID)
		}
		seen[got.Key] = got.ID
	}
	for key, id := range l.acked {
		if seen[key] != id {
			l.t.Fatalf("%q was acknowledged as turn %d and is %d", key, id, seen[key])
		}
	}
	wellFormed(l.t, db)
}

// TestConcurrentBatchesAreWhole: batches of all sizes whose contexts end at any
// moment are kept whole or not at all, as Append said.
func TestConcurrentBatchesAreWhole(t *testing.T) {
	db := open(t, "/a", &Options{FS: disk.NewMem(3), LogBytes: 128 << 10, ReuseDelay: -1})
	kept := map[string]bool{}
	var mu sync.Mutex
	var writers sync.WaitGroup
	for g := range 4 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 8))
			for i := range trial.Size(60, 20) {
				var batch []Turn
				for k := range 1 + rng.IntN(400) {
					batch = append(batch, killedTurn(fmt.Sprintf("%d.%d.%d", g, i, k)))
				}
				c, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(20_000))*time.Microsecond)
				_, err := db.Append(c, batch...)
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				mu.Lock()
				for k := range batch {
					kept[batch[k].Key] = err == nil
				}
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	n := TurnID(0)
	for got, err := range db.Turns(1, 0) {
		if n++; err != nil || got.ID != n || !kept[got.Key] {
			t.Fatalf("turn %d of key %q, kept %v: %v", got.ID, got.Key, kept[got.Key], err)
		}
		delete(kept, got.Key)
	}
	for key, was := range kept {
		if was {
			t.Fatalf("%q was acknowledged and is not there", key)
		}
	}
	wellFormed(t, db)
}

// TestSparseCopies: a copy whose zeros became holes is as good.
func TestSparseCopies(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "a.ctxdb"), filepath.Join(dir, "b.ctxdb")
	db := open(t, path, &Options{LogBytes: 64 << 10})
	const turns = 200
	for i := range turns {
		appendTurns(t, db, killedTurn(fmt.Sprint("sparse.", i)))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(copied)
	if err != nil {
		t.Fatal(err)
	}
	holes := 0
	for off := 0; off < len(b); off += 4096 {
		page := b[off:min(off+4096, len(b))]
		if len(bytes.Trim(page, "\x00")) == 0 {
			holes++
		} else if _, err := f.WriteAt(page, int64(off)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Truncate(int64(len(b))), f.Close()); err != nil || holes == 0 {
		t.Fatalf("%d holes: %v", holes, err)
	}
	sparse := open(t, copied, nil)
	if n := sparse.Stats().Turns; n != turns || sparse.Recovery().TornBytes > 0 {
		t.Errorf("%d turns, %d bytes torn", n, sparse.Recovery().TornBytes)
	}
	l := lives{t: t}
	if err := l.iterate(sparse); err != nil {
		t.Error(err)
	}
	appendTurns(t, sparse, Turn{Role: "user", Content: []byte("goes on")})
	wellFormed(t, sparse)
	wellFormed(t, db)
}
