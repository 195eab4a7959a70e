package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/fuzz/trial"
)

// player runs operations, given as bytes, on a cache and on the naive model,
// and compares the two after each step.
type player struct {
	t     testing.TB
	opts  Options[int, int]
	cache *Cache[int, int]
	model *naive
	gone  []int
	base  Stats // counters before the latest restore
	step  int
}

const playerKeys = 64

// costOf has mostly small items, so that all of S3-FIFO's parts are in use,
// and some that no tenth of a budget holds; one in seven has no bytes.
func costOf(key int) Cost {
	if key%4 == 0 {
		return Cost{Tokens: int64(key*key%37) + 1, Bytes: int64(key*97%211) * 3}
	}
	return Cost{Tokens: int64(key*key%7) + 1, Bytes: int64(key%7) * 30}
}

func newPlayer(t testing.TB, policy Policy, shape byte) *player {
	p := &player{t: t}
	p.opts = Options[int, int]{Policy: policy, BudgetTokens: 90, BudgetBytes: 2000, ManualTick: shape&16 != 0}
	switch shape & 3 {
	case 1:
		p.opts.BudgetBytes = 0
	case 2:
		p.opts.BudgetTokens = 0
	}
	p.opts.LowWatermark = []float64{1, 0.6, 0.85, 0.3}[shape>>2&3]
	p.opts.OnEvict = func(key, value int, cost Cost, _ Reason) {
		if value != 10*key || cost != costOf(key) {
			t.Errorf("step %d: %d left with value %d, cost %v", p.step, key, value, cost)
		}
		p.gone = append(p.gone, key)
	}
	var err error
	if p.cache, err = New(p.opts); err != nil {
		t.Fatal(err)
	}
	p.model = &naive{policy: policy, tokens: p.opts.BudgetTokens, bytes: p.opts.BudgetBytes,
		low: p.opts.LowWatermark, manual: p.opts.ManualTick}
	return p
}

func (p *player) play(ops []byte) {
	for len(ops) >= 2 && !p.t.Failed() {
		p.step++
		p.gone, p.model.gone = nil, nil
		p.do(ops[0], int(ops[1])%playerKeys)
		p.compare()
		ops = ops[2:]
	}
}

func (p *player) do(op byte, key int) {
	it := p.model.find(key)
	switch op % 16 {
	case 0:
		p.same("pin", p.cache.Pin(key) == nil, it != nil)
		if it != nil {
			it.pins++
		}
	case 1, 2:
		p.same("unpin", p.cache.Unpin(key), it != nil && it.pins > 0)
		if it != nil && it.pins > 0 {
			it.pins--
		}
	case 3:
		p.release(key, it)
	case 4:
		class := Class(op / 16 % classes)
		p.same("class", p.cache.SetClass(key, class), it != nil)
		if it != nil {
			it.class = class
		}
	case 5:
		p.cache.Tick()
		p.model.tick()
	case 6, 7, 8:
		v, ok := p.cache.Get(key)
		p.same("get", fmt.Sprint(v, ok), fmt.Sprint(10*key*b2i(it != nil), p.model.get(key)))
	case 9:
		p.restore()
	default:
		cost := costOf(key)
		p.same("load", p.load(key, cost), p.model.load(key, cost.Tokens, cost.Bytes))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *player) release(key int, it *naiveItem) {
	err := p.cache.Release(key)
	switch {
	case it == nil:
		p.same("release", err, ErrNotResident)
	case it.pins > 0:
		p.same("release", err, ErrPinned)
		p.same("drop", p.cache.Drop(key), true)
		p.model.release(it)
	default:
		p.same("release", err, error(nil))
		p.model.release(it)
	}
}

func (p *player) load(key int, cost Cost) string {
	before := p.cache.Snapshot()
	v, hit, err := p.cache.Load(context.Background(), key, cost, func() (int, error) { return 10 * key, nil })
	switch {
	case errors.Is(err, ErrOverBudget):
		p.same("state after ErrOverBudget", fmt.Sprint(p.cache.Snapshot()), fmt.Sprint(before))
		return "over"
	case err != nil:
		p.t.Fatalf("step %d: load %d: %v", p.step, key, err)
	case v != 10*key:
		p.t.Fatalf("step %d: load %d gave %d", p.step, key, v)
	case hit:
		return "hit"
	}
	return "fault"
}

// restore goes on with a copy made from the snapshot.
func (p *player) restore() {
	next, err := New(p.opts)
	if err != nil {
		p.t.Fatal(err)
	}
	s := p.cache.Snapshot()
	if err := next.Restore(s, func(key int) (int, bool) { return 10 * key, true }); err != nil {
		p.t.Fatalf("step %d: %v", p.step, err)
	}
	p.same("snapshot of the restored", fmt.Sprint(next.Snapshot()), fmt.Sprint(s))
	st := p.cache.Stats()
	p.base.Hits, p.base.Faults, p.base.Evictions = p.base.Hits+st.Hits, p.base.Faults+st.Faults, p.base.Evictions+st.Evictions
	p.cache = next
}

func (p *player) same(what string, got, want any) {
	p.t.Helper()
	if got != want {
		p.t.Fatalf("step %d, %s: %s: cache %v, model %v", p.step, p.opts.Policy, what, got, want)
	}
}

func (p *player) compare() {
	p.t.Helper()
	if err := p.cache.check(); err != nil {
		p.t.Fatalf("step %d: %v", p.step, err)
	}
	st := p.cache.Stats()
	tokens, bytes := p.model.sum(false)
	pt, pb := p.model.sum(true)
	p.same("charge", fmt.Sprint(st.Charged, st.Pinned), fmt.Sprint(Cost{tokens, bytes}, Cost{pt, pb}))
	p.same("counts", fmt.Sprint(st.Hits+p.base.Hits, st.Faults+p.base.Faults, st.Evictions+p.base.Evictions),
		fmt.Sprint(p.model.hits, p.model.faults, p.model.evicted))
	p.same("what left", fmt.Sprint(p.gone), fmt.Sprint(p.model.gone))
	var got, want []string
	snap := p.cache.Snapshot()
	var ghosts []GhostState[int]
	for _, g := range p.model.ghosts {
		ghosts = append(ghosts, GhostState[int]{g.key, p.model.size(g)})
	}
	p.same("ghosts, hand, L", fmt.Sprint(snap.Ghosts, snap.Hand, snap.Floor, snap.Refs),
		fmt.Sprint(ghosts, slices.Index(p.model.line, p.model.hand), p.model.floor, p.model.refs))
	for _, it := range snap.Items {
		got = append(got, fmt.Sprint(it.Key, it.Seq, it.Last, it.Pins, it.Class, it.Freq, it.Queue, it.Priority))
	}
	for _, it := range p.model.all() {
		want = append(want, fmt.Sprint(it.key, it.seq, it.last, it.pins, it.class, it.freq, b2i(it.main), it.rank))
	}
	if !slices.Equal(got, want) {
		p.t.Fatalf("step %d, %s: residents\n%v, model\n%v", p.step, p.opts.Policy, got, want)
	}
}

func randomOps(rng *rand.Rand, n int) []byte {
	ops := make([]byte, 2*n)
	for i := range ops {
		ops[i] = byte(rng.Uint32())
	}
	for i := 1; i < len(ops); i += 2 { // some keys are wanted more often
		if rng.IntN(2) == 0 {
			ops[i] %= 6
		}
	}
	return ops
}

func TestAgainstNaiveModel(t *testing.T) {
	for _, policy := range Policies() {
		t.Run(string(policy), func(t *testing.T) {
			for shape := range trial.Size(32, 8) {
				seed := uint64(shape)*31 + 7
				rng := rand.New(rand.NewPCG(seed, 1))
				p := newPlayer(t, policy, byte(shape))
				p.play(randomOps(rng, 700))
				if t.Failed() {
					t.Fatalf("shape %d, seed %d", shape, seed)
				}
				if p.base.Evictions+p.cache.Stats().Evictions < 50 {
					t.Fatalf("shape %d, seed %d: hardly anything was evicted", shape, seed)
				}
			}
		})
	}
}

func FuzzCacheModel(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range Policies() {
		f.Add(append([]byte{byte(i), byte(i * 5)}, randomOps(rng, 40)...))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 2 || len(in) > 4096 {
			return
		}
		policies := Policies()
		newPlayer(t, policies[int(in[0])%len(policies)], in[1]).play(in[2:])
	})
}
