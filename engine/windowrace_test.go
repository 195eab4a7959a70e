package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ctxdb/format/disk"
)

// TestWindowConcurrently: eight goroutines refer, pin and release while another
// appends and seals, and one watches the charge at every instant it can.
func TestWindowConcurrently(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	p := &player{db: open(t, filepath.Join(t.TempDir(), "a"), &Options{Sync: SyncNever, LogBytes: 64 << 10})}
	for range 80 {
		if err := p.append(rng); err != nil {
			t.Fatal(err)
		}
	}
	turns := p.turns
	o := WindowOptions{BudgetTokens: 9000, BudgetBytes: 30000, PinOnFault: true}
	w, err := p.db.Window("main", o)
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var watcher, workers sync.WaitGroup
	watcher.Go(func() {
		for !done.Load() {
			now, peak := w.Charge()
			if now.Tokens > 9000 || now.Bytes > 30000 || peak.Tokens > 9000 || peak.Bytes > 30000 {
				t.Errorf("charged %+v, at most %+v", now, peak)
				return
			}
		}
	})
	for g := range 8 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 6))
			for range 1500 {
				if err := refer(w, &turns[rng.IntN(len(turns))], rng); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Go(func() {
		for i := range 100 {
			if err := p.append(rng); err != nil {
				t.Error(err)
			}
			if i%25 == 0 {
				w.Stats()
				w.Pages()
				if err := p.db.Checkpoint(ctx); err != nil {
					t.Error(err)
				}
			}
		}
	})
	workers.Wait()
	done.Store(true)
	watcher.Wait()
	if err := w.check(); err != nil {
		t.Error(err)
	}
	wellFormed(t, p.db)
}

func refer(w *Window, t *Turn, rng *rand.Rand) error {
	var got []byte
	var err error
	switch op := rng.IntN(20); {
	case op < 8:
		var turn Turn
		turn, _, err = w.Get(t.ID)
		got = turn.Content
	case op < 12:
		var turn *Turn
		if turn, _, err = w.View(t.ID); err == nil {
			got = turn.Content
		}
	case op < 16:
		var page Page
		page, _, err = w.Page(t.ID, 0)
		if err == nil && !bytes.HasPrefix(t.Content, page.Content) {
			return fmt.Errorf("page of %d: %d bytes", t.ID, len(page.Content))
		}
		got = t.Content
	case op < 17:
		got, err = t.Content, w.Pin(t.ID)
	case op < 19:
		w.Unpin(t.ID)
		return nil
	default:
		w.Release(t.ID)
		return nil
	}
	if err == nil && !bytes.Equal(got, t.Content) {
		return fmt.Errorf("turn %d: %d bytes for %d", t.ID, len(got), len(t.Content))
	}
	if errors.Is(err, ErrOverBudget) {
		return nil
	}
	return err
}

// TestFaultsShareReads: many goroutines that want one turn read it once.
func TestFaultsShareReads(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", &Options{FS: mem, NoMap: true, ReuseDelay: -1, LockWait: -1})
	long := strings.Repeat(strings.Repeat("x", 99)+"\n", 500)
	appendTurns(t, db, Turn{Tokens: 900, Content: []byte(long)}, Turn{Tokens: 5, Content: []byte("other")})
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	reads := func(goroutines int) int64 {
		w, err := db.Window("", WindowOptions{BudgetTokens: 1000})
		if err != nil {
			t.Fatal(err)
		}
		before := mem.Ops()
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				if got, _, err := w.Get(1); err != nil || string(got.Content) != long {
					t.Error(len(got.Content), err)
				}
			})
		}
		all.Wait()
		if s := w.Stats(); s.Refs != int64(goroutines) || s.Faults != 1 {
			t.Errorf("%+v", s)
		}
		return mem.Ops() - before
	}
	reads(1) // the segment's header and index
	if one, many := reads(1), reads(16); many != one || one == 0 {
		t.Errorf("%d operations for one goroutine, %d for 16", one, many)
	}
}

// TestOverBudgetChangesNothing: neither residents nor the state of the policy,
// nor counters.
func TestOverBudgetChangesNothing(t *testing.T) {
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	long := []byte(strings.Repeat("a line of a long turn\n", 2000)) // 11 pages
	appendTurns(t, db, Turn{Tokens: 11000, Content: long}, Turn{Tokens: 300, Content: []byte("a")}, Turn{Tokens: 5000, Content: []byte("b")}, Turn{Tokens: 300, Content: []byte("c")})
	w, err := db.Window("", WindowOptions{BudgetTokens: 10000})
	if err != nil {
		t.Fatal(err)
	}
	for part := range 5 {
		if _, _, err := w.Page(1, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Pin(2), w.Pin(3)); err != nil {
		t.Fatal(err)
	}
	stats, state := w.Stats(), w.save(1)
	if _, _, err := w.Get(1); !errors.Is(err, ErrOverBudget) {
		t.Error(err)
	}
	if err := w.Pin(1); !errors.Is(err, ErrOverBudget) {
		t.Error(err)
	}
	if got := w.Stats(); !reflect.DeepEqual(got, stats) || !bytes.Equal(w.save(1), state) {
		t.Errorf("%+v became %+v", stats, got)
	}
	if _, _, err := w.Page(1, 11); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	w.Unpin(3)
	w.Release(3)
	if _, hit, err := w.Page(1, 9); hit || err != nil {
		t.Error(hit, err)
	}
}

// TestResidentHitAllocatesNothing, the trace included.
func TestResidentHitAllocatesNothing(t *testing.T) {
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	appendTurns(t, db, Turn{Tokens: 10, Content: []byte("a")}, Turn{Tokens: 4000, Content: bytes.Repeat([]byte("long\n"), 3000)})
	w, err := db.Window("main", WindowOptions{BudgetTokens: 10000})
	if err != nil {
		t.Fatal(err)
	}
	pass(t, w, 1, 2)
	for id := TurnID(1); id <= 2; id++ {
		if n := testing.AllocsPerRun(5000, func() {
			if _, hit, err := w.View(id); !hit || err != nil {
				t.Fatal(hit, err)
			}
		}); n != 0 {
			t.Errorf("turn %d: %v allocations", id, n)
		}
	}
}

func BenchmarkWindowHit(b *testing.B) {
	for _, policy := range []string{"idlesize", "lru"} {
		for _, size := range []int{100, 40000} {
			b.Run(fmt.Sprintf("policy=%s/bytes=%d", policy, size), func(b *testing.B) {
				db := open(b, "/a", memOptions(disk.NewMem(1)))
				defer db.Close()
				var turns []Turn
				for range 64 {
					turns = append(turns, Turn{Content: bytes.Repeat([]byte("line\n"), size/5)})
				}
				appendTurns(b, db, turns...)
				w, err := db.Window("main", WindowOptions{BudgetTokens: 1 << 30})
				if err != nil {
					b.Fatal(err)
				}
				for id := TurnID(1); id <= 64; id++ {
					w.View(id)
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if _, hit, err := w.View(TurnID(1 + i&63)); !hit || err != nil {
						b.Fatal(hit, err)
					}
					i++
				}
			})
		}
	}
}

func BenchmarkWindowFault(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a")
	db := open(b, path, nil)
	defer db.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	var turns []Turn
	for i := range 512 {
		t := makeTurn(rng, i)
		t.Content = t.Content[:min(len(t.Content), 3000)]
		t.ReplyKey = ""
		turns = append(turns, t)
	}
	appendTurns(b, db, turns...)
	if err := db.Checkpoint(ctx); err != nil {
		b.Fatal(err)
	}
	w, err := db.Window("main", WindowOptions{BudgetTokens: 8000})
	if err != nil {
		b.Fatal(err)
	}
	pass := func(id int) {
		if _, _, err := w.View(TurnID(1 + id*37%512)); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 512 {
		pass(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		pass(i)
		i++
	}
	s := w.Stats()
	b.ReportMetric(float64(s.Faults)/float64(s.Refs), "faults/ref")
}
