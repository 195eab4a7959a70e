package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"ctxdb/cache"
	"ctxdb/format/disk"
)

// check holds the window's own books against each other and the budgets.
func (w *Window) check() error {
	w.faults.Lock()
	defer w.faults.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	stats := w.cache.Stats()
	if !fits(stats.Peak, w.limit, cache.Cost{}) || stats.Reserved != (cache.Cost{}) {
		return fmt.Errorf("charged at most %+v of %+v, reserved %+v", stats.Peak, w.limit, stats.Reserved)
	}
	var sum, pinned cache.Cost
	keys := w.cache.Keys()
	for _, key := range keys {
		r := w.turns[key.id()]
		if r == nil || r.parts[key.part()] == nil {
			return fmt.Errorf("page %d.%d is in the cache only", key.id(), key.part())
		}
		p := &r.lay.pages[key.part()]
		if len(r.parts[key.part()]) != int(p.end-p.start) {
			return fmt.Errorf("page %d.%d has %d bytes", key.id(), key.part(), len(r.parts[key.part()]))
		}
		if sum = plus(sum, p.cost()); w.pins[key.id()] || w.isHeld(key) {
			pinned = plus(pinned, p.cost())
		}
	}
	pages, results := 0, 0
	for id, r := range w.turns {
		n := 0
		for _, b := range r.parts {
			if b != nil {
				n++
			}
		}
		if n != r.here || n == 0 || (n == len(r.parts)) != (r.whole != nil) {
			return fmt.Errorf("turn %d: %d of %d pages, %d were counted", id, n, len(r.parts), r.here)
		}
		if r.lay.call != 0 {
			results++
			if !slices.Contains(w.results[r.lay.call], id) {
				return fmt.Errorf("result %d is not known by its call", id)
			}
		}
		pages += n
	}
	for _, list := range w.results {
		results -= len(list)
	}
	switch {
	case pages != len(keys) || sum != stats.Charged || pinned != stats.Pinned || results != 0:
		return fmt.Errorf("%d pages of %+v, %+v pinned, %d results; the cache has %d and %+v", pages, sum, pinned, results, len(keys), stats)
	case len(w.orphans)+len(w.torn)+len(w.stale) > 0 || w.counts.refs != w.counts.hits+w.counts.faults:
		return fmt.Errorf("left over: %v %v %v, %+v", w.orphans, w.torn, w.stale, w.counts)
	}
	held := w.pinned
	for id := range w.pins {
		pinned = minus(pinned, w.turns[id].lay.cost)
		held = minus(held, w.turns[id].lay.cost)
	}
	for _, h := range w.holds {
		if !w.pins[h.key.id()] {
			pinned = minus(pinned, h.cost)
		}
	}
	if pinned != (cache.Cost{}) || held != (cache.Cost{}) {
		return fmt.Errorf("%+v pinned by nobody, %+v too many counted", pinned, held)
	}
	return nil
}

// player plays steps on a window and on the naive one.
type player struct {
	db    *DB
	opts  WindowOptions
	w     *Window
	sim   *simWindow
	turns []Turn
	steps int
	long  int // bytes of the longest turns; 0: 16,000

	mem    *disk.Mem
	logged bool // never seal: the file is left as it is, since sealing costs more than all else
}

func newPlayer(o WindowOptions, turns, long int, rng *rand.Rand) (*player, error) {
	p := &player{mem: disk.NewMem(1), long: long}
	var err error
	if p.db, err = Open("/a.ctxdb", p.fileOptions()); err != nil {
		return nil, err
	}
	for range turns {
		if err := p.append(rng); err != nil {
			return nil, err
		}
	}
	if p.w, err = p.db.Window("model", o); err != nil {
		return nil, err
	}
	p.opts = p.w.Options()
	p.sim = newSim(p.opts)
	p.sim.learn(p.turns)
	return p, nil
}

func (p *player) fileOptions() *Options {
	return &Options{FS: p.mem, Sync: SyncNever, Inline: true, ReuseDelay: -1, LockWait: -1}
}

// append adds a turn of any kind: calls and their results on a few files, some
// of many parts, meta turns, empty ones.
func (p *player) append(rng *rand.Rand) error {
	id := TurnID(len(p.turns) + 1)
	t := Turn{Role: []string{"user", "assistant", "tool_call", "tool_result", "tool_result", RoleMeta}[rng.IntN(6)]}
	n := rng.IntN(400)
	if rng.IntN(4) == 0 {
		n = rng.IntN(cmp.Or(p.long, 16000))
	}
	for len(t.Content) < n {
		t.Content = fmt.Appendf(t.Content, "%d:%x%s", id, rng.Uint32(), []string{" ", "\n"}[rng.IntN(2)])
	}
	if rng.IntN(3) == 0 {
		t.Tokens = 1 + rng.IntN(len(t.Content)+1)
	}
	if t.Role == "tool_result" && id > 1 {
		t.ReplyTo = TurnID(max(1, int(id)-1-rng.IntN(4)))
		t.Entities = []string{fmt.Sprintf("f%d.go", rng.IntN(4))}
		t.Tags = []string{[]string{"tool:Read", "tool:Write", "tool:Edit"}[rng.IntN(3)]}
	}
	ids, err := p.db.Append(ctx, t)
	if err != nil {
		return err
	}
	if t.Tokens == 0 && len(t.Content) > 0 {
		t.Tokens = EstimateTokens(t.Content)
	}
	t.ID = ids[0]
	p.turns = append(p.turns, t)
	return nil
}

// layout gives the naive window the layouts that a step may need.
func (p *player) layout(id TurnID) error {
	for ; id != 0 && p.sim.layouts[id] == nil; id = p.sim.layouts[id].call.id() {
		p.w.faults.Lock()
		l, _, err := p.w.layoutOf(id)
		p.w.faults.Unlock()
		if err != nil {
			return err
		}
		p.sim.layouts[id] = l
	}
	return nil
}

// step does one thing to both and compares all that can be seen. op and arg are
// any numbers.
func (p *player) step(op, arg byte, rng *rand.Rand) error {
	p.steps++
	t := &p.turns[int(arg)%len(p.turns)]
	if err := p.layout(t.ID); err != nil {
		return err
	}
	part := int(op/16) % len(p.sim.layouts[t.ID].pages)
	var err error
	switch op % 16 {
	case 0, 1, 2, 3, 4, 5:
		err = p.get(t)
	case 6, 7, 8, 9:
		err = p.page(t, part)
	case 10:
		err = p.pin(t)
	case 11, 12:
		p.w.Unpin(t.ID)
		p.sim.pins = slices.DeleteFunc(p.sim.pins, func(id TurnID) bool { return id == t.ID })
	case 13:
		p.w.Release(t.ID)
		p.sim.release(t.ID)
	case 14:
		if len(p.turns) < 100 || len(p.turns) < 250 && !p.logged {
			err = p.append(rng)
		}
	case 15:
		if op == 255 && !p.logged {
			err = p.db.Checkpoint(ctx)
		}
	}
	if err == nil {
		err = p.compare()
	}
	if err != nil {
		return fmt.Errorf("step %d, %d on turn %d: %w", p.steps, op, t.ID, err)
	}
	return nil
}

func (p *player) get(t *Turn) error {
	hit, over := p.refer(t.ID, allParts, false)
	got, h, err := p.w.Get(t.ID)
	return agree(got.Content, h, err, t.Content, hit, over)
}

func (p *player) page(t *Turn, part int) error {
	hit, over := p.refer(t.ID, part, false)
	got, h, err := p.w.Page(t.ID, part)
	pl := p.sim.layouts[t.ID].pages[part]
	return agree(got.Content, h, err, t.Content[pl.start:pl.end], hit, over)
}

func (p *player) pin(t *Turn) error {
	over := false
	if !slices.Contains(p.sim.pins, t.ID) {
		if _, over = p.refer(t.ID, allParts, true); !over {
			p.sim.pins = append(p.sim.pins, t.ID)
		}
	}
	return agree(nil, false, p.w.Pin(t.ID), nil, false, over)
}

// refer is a reference of the naive window, which learns of new turns where the
// real one does: at faults.
func (p *player) refer(id TurnID, part int, pin bool) (hit, over bool) {
	if l := p.sim.layouts[id]; !p.sim.covers(l, part) && fits(l.want(part), p.sim.limit, p.sim.held(false, nil)) {
		p.sim.learn(p.turns)
	}
	return p.sim.ref(id, part, pin)
}

func (l *layout) want(part int) cache.Cost {
	if part == allParts {
		return l.cost
	}
	return l.pages[part].cost()
}

func (s *simWindow) covers(l *layout, part int) bool {
	for i := range l.pages {
		if (part == allParts || part == i) && s.find(makePageKey(l.id, i)) == nil {
			return false
		}
	}
	return true
}

func agree(got []byte, hit bool, err error, want []byte, wantHit, over bool) error {
	switch {
	case over != errors.Is(err, ErrOverBudget):
		return fmt.Errorf("over budget %v: %w", over, err)
	case over:
		return nil
	case err != nil:
		return err
	case hit != wantHit:
		return fmt.Errorf("hit %v, %v was expected", hit, wantHit)
	case !bytes.Equal(got, want):
		return fmt.Errorf("%d bytes for %d", len(got), len(want))
	}
	return nil
}

func (p *player) compare() error {
	if err := p.w.check(); err != nil {
		return err
	}
	keys := p.w.cache.Keys()
	slices.Sort(keys)
	var want []pageKey
	for _, q := range p.sim.pages {
		want = append(want, q.key)
	}
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		return fmt.Errorf("resident are %v, %v were expected", names(keys), names(want))
	}
	p.w.mu.Lock()
	c := p.w.counts
	p.w.mu.Unlock()
	if evicted := p.w.cache.Stats().Evictions + c.cascaded; c.refs != p.sim.refs || c.hits != p.sim.hits || evicted != p.sim.evicted {
		return fmt.Errorf("%d references, %d hits, %d evictions; %d, %d, %d were expected", c.refs, c.hits, evicted, p.sim.refs, p.sim.hits, p.sim.evicted)
	}
	return nil
}

func names(keys []pageKey) (all []string) {
	for _, k := range keys {
		all = append(all, fmt.Sprintf("%d.%d", k.id(), k.part()))
	}
	return all
}

// anyOptions makes window options of every kind.
func anyOptions(a, b byte) WindowOptions {
	o := WindowOptions{
		Policy:     []cache.Policy{cache.IdleSize, cache.LRU}[a%2],
		PageTokens: []int{0, -1, 256, 64, 2048, 1024}[a/2%6], LowWatermark: []float64{0, 1, 0.3}[b%3],
		KeepRecent: []int{0, -1, 2}[b/3%3], PinOnFault: b/9%2 == 1, CallsApart: b/18%5 == 1, KeepSuperseded: b/18%5 == 2,
	}
	if kind := a / 12 % 3; kind != 1 {
		o.BudgetTokens = []int{3000, 6000, 900, 12000}[a/36%4]
	}
	if o.BudgetTokens == 0 || a/12%3 == 2 {
		o.BudgetBytes = 9000
	}
	return o
}

// modelSteps is how many steps a run of the model makes; CTXDB_STEPS sets more.
func modelSteps(t *testing.T) int {
	if s := os.Getenv("CTXDB_STEPS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 10_000
}

func TestWindowAgainstNaiveOne(t *testing.T) {
	steps := modelSteps(t)
	total := 0
	for seed := uint64(1); total < steps; seed++ {
		rng := rand.New(rand.NewPCG(seed, 7))
		p, err := newPlayer(anyOptions(byte(rng.Uint32()), byte(rng.Uint32())), 40, 16000, rng)
		if err != nil {
			t.Fatal(err)
		}
		spread := 1 + rng.IntN(200)
		for range 1000 {
			arg := rng.IntN(1 + spread)
			if err := p.step(byte(rng.Uint32()), byte(arg), rng); err != nil {
				t.Fatalf("seed %d, %+v: %v", seed, p.opts, err)
			}
		}
		total += p.steps
		if err := p.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d steps checked against the naive window", total)
}

// TestWindowNeverExceedsItsBudget looks at the charge, and at the most that it
// ever was, after every step, and at all of the books now and then: every
// policy, both budgets, pins, parts, turns that come and put others into other
// classes, windows that come back under the same or another budget, and files
// that are closed and opened. A billion steps:
//
//	CTXDB_STEPS=1000000000 go test -run TestWindowNeverExceedsItsBudget -timeout 6h -v ./engine
func TestWindowNeverExceedsItsBudget(t *testing.T) {
	const most = 1_000_000 // steps of a run
	steps := modelSteps(t)
	var next, total atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !t.Failed() {
				seed := next.Add(1)
				n := min(most, steps-int(seed-1)*most)
				if n <= 0 {
					return
				}
				if err := carelessWindow(uint64(seed), n); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				if done := total.Add(int64(n)); done%(20*most) == 0 {
					t.Logf("%d steps", done)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d steps, the charge checked after each", total.Load())
}

func carelessWindow(seed uint64, steps int) error {
	rng := rand.New(rand.NewPCG(seed, 8))
	o := anyOptions(byte(rng.Uint32()), byte(rng.Uint32()))
	o.Policy = cache.Policies()[rng.IntN(len(cache.Policies()))]
	p, err := newPlayer(o, 60, 700, rng)
	if err != nil {
		return err
	}
	if err := p.carelessRun(steps, rng); err != nil {
		return fmt.Errorf("step %d, %+v: %w", p.steps, p.w.opts, err)
	}
	return nil
}

// carelessRun checks the books of a window after each of many steps. What a
// fault costs is mostly decompression, which has no part in this: the turns are
// read from the log until the file is closed and opened, near the end.
func (p *player) carelessRun(steps int, rng *rand.Rand) error {
	spread := 1 + rng.IntN(len(p.turns))
	for n := range steps {
		p.steps++
		err := p.careless(spread, rng)
		if n == steps-steps/128 {
			err = p.reopen()
		}
		if err != nil {
			return err
		}
		now, peak := p.w.Charge()
		if !fits(now, p.w.limit, cache.Cost{}) || !fits(peak, p.w.limit, cache.Cost{}) {
			return fmt.Errorf("charged %+v, at most %+v", now, peak)
		}
		if p.steps%4000 == 0 {
			if err := p.w.check(); err != nil {
				return err
			}
		}
	}
	return p.db.Close()
}

// careless does anything, whatever comes of it, to the turns up to spread, to
// the first few of them more often, and to those that came since the beginning.
func (p *player) careless(spread int, rng *rand.Rand) error {
	r := rng.Uint64()
	op, id := r>>48, TurnID(1+r&(1<<32-1)%uint64(spread))
	switch few := r >> 32 & 15; {
	case few == 0 && len(p.turns) > 60:
		id = TurnID(61 + int(id)%(len(p.turns)-60))
	case few < 15:
		id = 1 + id%6
	}
	switch {
	case op < 44<<10:
		p.w.View(id)
	case op < 58<<10:
		p.w.Page(id, int(op&3))
	case op < 58<<10+512:
		p.w.Pin(id)
	case op < 62<<10:
		p.w.Unpin(id)
	case op < 1<<16-12:
		if op&15 == 0 {
			p.w.Release(id)
		}
	case op < 1<<16-1:
		if len(p.turns) < 120 {
			return p.append(rng)
		}
	default:
		return p.comeBack(rng)
	}
	return nil
}

// comeBack opens the window anew: from what it was, under a budget that may be
// another.
func (p *player) comeBack(rng *rand.Rand) (err error) {
	o := p.opts
	o.BudgetTokens, o.BudgetBytes = o.BudgetTokens*(1+rng.IntN(4))/3, o.BudgetBytes*int64(1+rng.IntN(4))/3
	if p.w, err = p.db.Window("model", o); err == nil {
		err = p.w.check()
	}
	return err
}

// reopen closes the file and goes on from what it remembers of the window.
func (p *player) reopen() (err error) {
	if err = p.db.Close(); err != nil {
		return err
	}
	if p.db, err = Open("/a.ctxdb", p.fileOptions()); err != nil {
		return err
	}
	if p.w, err = p.db.Window("model", p.opts); err == nil {
		err = p.w.check()
	}
	return err
}

func FuzzWindow(f *testing.F) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		b := make([]byte, 202)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 2 {
			return
		}
		rng := rand.New(rand.NewPCG(uint64(b[0]), uint64(b[1])))
		p, err := newPlayer(anyOptions(b[0], b[1]), 30, 700, rng)
		if err != nil {
			t.Fatal(err)
		}
		p.logged = true
		for i := 2; i+1 < len(b); i += 2 {
			if err := p.step(b[i], b[i+1], rng); err != nil {
				t.Fatalf("%+v: %v", p.opts, err)
			}
		}
	})
}
