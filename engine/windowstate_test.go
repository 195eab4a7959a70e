package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxdb/cache"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

func memOptions(m *disk.Mem) *Options {
	return &Options{FS: m, ReuseDelay: -1, LockWait: -1, Inline: true, LogBytes: 64 << 10}
}

// use references turns in a seeded way and tells what came of each.
func use(t *testing.T, w *Window, rng *rand.Rand, turns, n int) (history []string) {
	t.Helper()
	for range n {
		id := TurnID(1 + rng.IntN(turns))
		switch op := rng.IntN(20); {
		case op < 12:
			_, hit, err := w.Get(id)
			history = append(history, fmt.Sprint(id, hit, err != nil))
		case op < 16:
			_, hit, err := w.Page(id, rng.IntN(2))
			history = append(history, fmt.Sprint(id, hit, err != nil))
		case op < 17:
			history = append(history, fmt.Sprint("pin", id, w.Pin(id) != nil))
		case op < 19:
			w.Unpin(id)
		default:
			w.Release(id)
		}
		if err := w.check(); err != nil {
			t.Fatal(err)
		}
	}
	return append(history, fmt.Sprint(w.Resident(), w.Evicted(0)))
}

func restartOptions(policy cache.Policy, seed uint64) WindowOptions {
	o := WindowOptions{BudgetTokens: 6000, Policy: policy, PinOnFault: seed%2 == 0}
	if seed%3 == 0 {
		o.PageTokens = -1
	}
	return o
}

// TestWindowGoesOnAfterRestart: a window that was closed, or cut off by a crash
// behind a checkpoint, and opened again does what one does that went on.
func TestWindowGoesOnAfterRestart(t *testing.T) {
	for i, policy := range slices.Repeat(cache.Policies(), trial.Size(3, 1)) {
		for _, crash := range []bool{false, true} {
			seed := uint64(i + 1)
			var histories [2][]string
			for run := range histories { // the first goes on, the second restarts
				mem := disk.NewMem(seed)
				rng := rand.New(rand.NewPCG(seed, 5))
				p := &player{db: open(t, "/a", memOptions(mem))}
				for range 60 {
					if err := p.append(rng); err != nil {
						t.Fatal(err)
					}
				}
				o := restartOptions(policy, seed)
				w, err := p.db.Window("main", o)
				if err != nil {
					t.Fatal(err)
				}
				use(t, w, rng, 60, 300)
				before := w.Resident()
				if run == 1 {
					if crash {
						if err := p.db.Checkpoint(ctx); err != nil {
							t.Fatal(err)
						}
						mem = mem.Crash(disk.Variant{})
					} else if err := p.db.Close(); err != nil {
						t.Fatal(err)
					}
					p.db = open(t, "/a", memOptions(mem))
					if w, err = p.db.Window("main", o); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(w.Resident(), before) || len(before) == 0 {
						t.Fatalf("%s: resident %v, before %v", policy, w.Resident(), before)
					}
				}
				for range 5 {
					if err := p.append(rng); err != nil {
						t.Fatal(err)
					}
				}
				histories[run] = use(t, w, rng, 65, 500)
				wellFormed(t, p.db)
			}
			for n := range histories[0] {
				if histories[0][n] != histories[1][n] {
					t.Fatalf("%s, seed %d, crash %v: step %d was %s, after a restart %s", policy, seed, crash, n, histories[0][n], histories[1][n])
				}
			}
		}
	}
}

// TestWindowOfReader: a reader goes on from the same state and changes nothing.
func TestWindowOfReader(t *testing.T) {
	mem := disk.NewMem(3)
	rng := rand.New(rand.NewPCG(3, 5))
	p := &player{db: open(t, "/a", memOptions(mem))}
	for range 30 {
		if err := p.append(rng); err != nil {
			t.Fatal(err)
		}
	}
	w, err := p.db.Window("main", WindowOptions{BudgetTokens: 5000})
	if err != nil {
		t.Fatal(err)
	}
	use(t, w, rng, 30, 100)
	before := w.Resident()
	if err := p.db.Close(); err != nil {
		t.Fatal(err)
	}
	image := readAll(t, mem, "/a")
	o := memOptions(mem)
	o.ReadOnly = true
	db := open(t, "/a", o)
	if w, err = db.Window("main", WindowOptions{BudgetTokens: 5000}); err != nil {
		t.Fatal(err)
	}
	if got := w.Resident(); !slices.Equal(got, before) {
		t.Errorf("resident %v, %v were expected", got, before)
	}
	use(t, w, rng, 30, 100)
	if err := db.DropWindow("main"); err == nil {
		t.Error("a reader dropped a window")
	}
	if names := db.Windows(); !slices.Equal(names, []string{"main"}) {
		t.Errorf("windows %q", names)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(image, readAll(t, mem, "/a")) {
		t.Error("a reader changed the file")
	}
}

func readAll(t *testing.T, fs disk.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWindowNames: who shares a window, who takes it over, and what is forgotten.
func TestWindowNames(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", memOptions(mem))
	ids := appendTurns(t, db, Turn{Tokens: 40, Content: []byte("a")}, Turn{Tokens: 40, Content: []byte("b")}, Turn{Tokens: 40, Content: []byte("c")})
	open3 := func(name string, o WindowOptions) *Window {
		w, err := db.Window(name, o)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open3("main", WindowOptions{BudgetTokens: 120})
	for _, id := range ids {
		if _, hit, err := w.Get(id); hit || err != nil {
			t.Fatal(hit, err)
		}
	}
	if open3("main", WindowOptions{BudgetTokens: 120, PageTokens: 1024}) != w {
		t.Error("the same options gave another window")
	}
	if got := open3("", WindowOptions{BudgetTokens: 120}).Resident(); len(got) != 0 {
		t.Errorf("a window without a name has %v", got)
	}
	small := open3("main", WindowOptions{BudgetTokens: 80, KeepRecent: -1})
	if got := small.Resident(); small == w || !slices.Equal(got, ids[1:]) { // what was guarded left as far as the budget asked
		t.Errorf("a smaller budget left %v", got)
	}
	if got := open3("main", WindowOptions{BudgetTokens: 80, Policy: cache.LRU}).Resident(); len(got) != 0 {
		t.Errorf("another policy left %v", got)
	}
	open3("other", WindowOptions{BudgetTokens: 80})
	if err := db.DropWindow("main"); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, "/a", memOptions(mem))
	if names := db.Windows(); !slices.Equal(names, []string{"other"}) {
		t.Errorf("windows %q", names)
	}
	if err := db.DropWindow("other"); err != nil {
		t.Error(err)
	}
	wellFormed(t, db)
	db = open(t, "/a", memOptions(mem))
	if names := db.Windows(); len(names) != 0 {
		t.Errorf("windows %q", names)
	}
	wellFormed(t, db)
}

// TestAsideDamage: what can't be read of it is a warning, and windows begin
// empty; the rest of the file is as it was.
func TestAsideDamage(t *testing.T) {
	mem := disk.NewMem(1)
	db := open(t, "/a", memOptions(mem))
	appendTurns(t, db, Turn{Tokens: 40, Content: []byte("a")})
	w, err := db.Window("main", WindowOptions{BudgetTokens: 120})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Get(1); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	at := db.view.Load().root.AsideOffset
	f, err := mem.Open("/a", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xFF}, at+3); err != nil {
		t.Fatal(err)
	}
	f.Close()
	var log strings.Builder
	o := memOptions(mem)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	db = open(t, "/a", o)
	if w, err = db.Window("main", WindowOptions{BudgetTokens: 120}); err != nil {
		t.Fatal(err)
	}
	if got := w.Resident(); len(got) != 0 || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("resident %v, the log says %q", got, log.String())
	}
	if got, _, err := w.Get(1); err != nil || string(got.Content) != "a" {
		t.Error(string(got.Content), err)
	}
	wellFormed(t, db)
	db = open(t, "/a", memOptions(mem))
	if names := db.Windows(); !slices.Equal(names, []string{"main"}) {
		t.Errorf("the aside was not written anew: %q", names)
	}
	wellFormed(t, db)
}

// TestAsideNeedsNoSync: references and faults write nothing.
func TestAsideNeedsNoSync(t *testing.T) {
	mem := disk.NewMem(1)
	rng := rand.New(rand.NewPCG(1, 5))
	p := &player{db: open(t, "/a", memOptions(mem))}
	for range 30 {
		if err := p.append(rng); err != nil {
			t.Fatal(err)
		}
	}
	w, err := p.db.Window("main", WindowOptions{BudgetTokens: 5000})
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	mem.SetHook(func(op disk.Op) error {
		if op.Kind != disk.OpRead {
			writes++
		}
		return nil
	})
	use(t, w, rng, 30, 1000)
	mem.SetHook(nil)
	if writes > 0 {
		t.Errorf("%d writes or syncs", writes)
	}
	epoch := p.db.Stats().Epoch
	if err := p.db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.db.Checkpoint(ctx); err != nil { // nothing changed since
		t.Fatal(err)
	}
	if got := p.db.Stats().Epoch; got != epoch+2 {
		t.Errorf("%d superblocks for two checkpoints", got-epoch)
	}
	wellFormed(t, p.db)
}

func FuzzAside(f *testing.F) {
	mem := disk.NewMem(1)
	rng := rand.New(rand.NewPCG(1, 5))
	p := &player{}
	var err error
	if p.db, err = Open("/a", memOptions(mem)); err != nil {
		f.Fatal(err)
	}
	defer p.db.Close()
	for range 20 {
		if err := p.append(rng); err != nil {
			f.Fatal(err)
		}
	}
	for _, policy := range cache.Policies() {
		w, err := p.db.Window(string(policy), WindowOptions{BudgetTokens: 3000, Policy: policy, PinOnFault: true})
		if err != nil {
			f.Fatal(err)
		}
		for range 80 {
			w.Page(TurnID(1+rng.IntN(20)), rng.IntN(2))
		}
		w.Pin(3)
		f.Add(appendAsideEntry(nil, asideWindow, w.save(7)))
	}
	b, _ := p.db.aside.encode()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := decodeAside(b)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			again = appendAsideEntry(again, e.kind, e.b)
			switch e.kind {
			case asideWindow:
				fuzzState(t, p.db, e.b)
			case asideTrace:
				fuzzTrace(t, e.b)
			}
		}
		if !bytes.Equal(b, again) {
			t.Fatalf("%x became %x", b, again)
		}
	})
}

// fuzzState decodes any state, encodes it again, and lets a window go on from
// it.
func fuzzState(t *testing.T, db *DB, b []byte) {
	s, err := decodeState(b)
	if err != nil {
		return
	}
	if again := s.encode(nil); !bytes.Equal(b, again) {
		t.Fatalf("%x became %x", b, again)
	}
	w, err := db.newWindow("", WindowOptions{BudgetTokens: 2000, BudgetBytes: 9000, Policy: cache.IdleSize, PageTokens: s.pageTokens})
	if err == nil && s.cache.Policy != "" {
		w, err = db.newWindow("", WindowOptions{BudgetTokens: 2000, BudgetBytes: 9000, Policy: s.cache.Policy, PageTokens: s.pageTokens})
	}
	if err != nil {
		return
	}
	if w.restore(&s) != nil && len(w.Resident()) > 0 {
		t.Fatal("refused, and something is resident")
	}
	for id := TurnID(1); id < 20; id++ {
		if err := w.check(); err != nil {
			t.Fatal(err)
		}
		w.Get(id)
		w.Page(id, 0)
	}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
}

func fuzzTrace(t *testing.T, b []byte) {
	tr, err := decodeTrace(b)
	if err != nil {
		return
	}
	if again := tr.encode(nil, 1<<40); !bytes.Equal(b, again) {
		t.Fatalf("%x became %x", b, again)
	}
	for _, c := range tr.chunks {
		events, err := decodeEvents(c.b, c.count)
		if err == nil && !reflect.DeepEqual(encodeEvents(nil, events), c.b) {
			t.Fatalf("events of %x are encoded otherwise", c.b)
		}
	}
}
