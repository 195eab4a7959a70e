package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
)

// filled makes a cache that has seen some of everything.
func filled(t *testing.T, policy Policy) *player {
	p := newPlayer(t, policy, 4)
	p.play(randomOps(rand.New(rand.NewPCG(5, 8)), 400))
	return p
}

func TestSnapshotSurvivesJSON(t *testing.T) {
	for _, policy := range Policies() {
		p := filled(t, policy)
		before := p.cache.Snapshot()
		raw, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after Snapshot[int]
		if err := json.Unmarshal(raw, &after); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %+v\n%+v", policy, before, after)
		}
	}
}

func TestRestoreLeavesOutWhatIsGone(t *testing.T) {
	for _, policy := range Policies() {
		p := filled(t, policy)
		s := p.cache.Snapshot()
		lost := s.Items[len(s.Items)/2].Key
		next, _ := New(p.opts)
		if err := next.Restore(s, func(key int) (int, bool) { return 10 * key, key != lost }); err != nil {
			t.Fatal(err)
		}
		p.cache = next
		m := p.model
		m.release(m.find(lost))
		p.base = Stats{Hits: int64(m.hits), Faults: int64(m.faults), Evictions: int64(m.evicted)}
		p.play(randomOps(rand.New(rand.NewPCG(6, 8)), 400))
	}
}

func TestRestoreIntoASmallerBudget(t *testing.T) {
	for _, policy := range Policies() {
		c := newTest(t, Options[string, int]{Policy: policy, BudgetTokens: 100})
		for i := range 10 {
			put(t, c, fmt.Sprint(i), 10)
		}
		if err := c.Pin("4"); err != nil {
			t.Fatal(err)
		}
		c.SetClass("5", Guarded)
		c.SetClass("9", Doomed)
		s := c.Snapshot()
		asked := 0
		value := func(string) (int, bool) { asked++; return 1, true }
		small := newTest(t, Options[string, int]{Policy: policy, BudgetTokens: 35})
		if err := small.Restore(s, value); err != nil {
			t.Fatal(err)
		}
		_, pinned := small.Peek("4")
		_, guarded := small.Peek("5")
		if _, doomed := small.Peek("9"); !pinned || !guarded || doomed || small.Len() != 3 || asked != 3 {
			t.Errorf("%s: %v, %d values asked for", policy, small.Keys(), asked)
		}
		if err := small.check(); err != nil {
			t.Error(err)
		}
		tiny := newTest(t, Options[string, int]{Policy: policy, BudgetTokens: 9})
		if err := tiny.Restore(s, value); !errors.Is(err, ErrOverBudget) || tiny.Len() != 0 {
			t.Errorf("%s: %v, %d residents", policy, err, tiny.Len())
		}
	}
}

func TestRestoreRefusesNonsense(t *testing.T) {
	value := func(int) (int, bool) { return 1, true }
	for _, policy := range Policies() {
		p := filled(t, policy)
		for name, spoil := range map[string]func(*Snapshot[int]){
			"policy":      func(s *Snapshot[int]) { s.Policy = "mru" },
			"twice":       func(s *Snapshot[int]) { s.Items = append(s.Items, s.Items[0]) },
			"same seq":    func(s *Snapshot[int]) { s.Items[0].Seq = s.Items[1].Seq },
			"seq ahead":   func(s *Snapshot[int]) { s.Items[0].Seq = s.Seq + 1 },
			"clock ahead": func(s *Snapshot[int]) { s.Items[0].Last = s.Clock + 1 },
			"class":       func(s *Snapshot[int]) { s.Items[0].Class = 9 },
			"pins":        func(s *Snapshot[int]) { s.Items[0].Pins = -1 },
			"negative":    func(s *Snapshot[int]) { s.Items[0].Cost.Tokens = -1 },
			"overflow":    func(s *Snapshot[int]) { s.Items[0].Cost.Bytes, s.Items[1].Cost.Bytes = 1<<62, 1<<62 },
		} {
			s := p.cache.Snapshot()
			if len(s.Items) < 2 {
				t.Fatal("too few residents")
			}
			spoil(&s)
			next, _ := New(p.opts)
			if err := next.Restore(s, value); !errors.Is(err, ErrState) && (name != "overflow" || !errors.Is(err, ErrOverBudget)) {
				t.Errorf("%s, %s: %v", policy, name, err)
			}
			if next.Len() != 0 {
				t.Errorf("%s, %s: %d residents", policy, name, next.Len())
			}
		}
		if err := p.cache.Restore(p.cache.Snapshot(), value); !errors.Is(err, ErrState) {
			t.Errorf("into a cache in use: %v", err)
		}
	}
	for policy, spoil := range map[Policy]func(*Snapshot[int]){
		SIEVE:  func(s *Snapshot[int]) { s.Hand = len(s.Items) },
		GDSF:   func(s *Snapshot[int]) { s.Items[0].Stamp = s.Items[1].Stamp },
		S3FIFO: func(s *Snapshot[int]) { s.Items[0].Queue = 7 },
	} {
		p := filled(t, policy)
		s := p.cache.Snapshot()
		spoil(&s)
		next, _ := New(p.opts)
		if err := next.Restore(s, value); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// The order by idle x size^0.75 agrees with exact integers, idle^4 x size^3,
// wherever these differ by more than the rounding.
func TestIdleSizeWeightsAreExactEnough(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	exact := func(idle, size int64) *big.Int {
		i, s := big.NewInt(idle), big.NewInt(size)
		i.Exp(i, big.NewInt(4), nil)
		return i.Mul(i, s.Exp(s, big.NewInt(3), nil))
	}
	near := 0
	for range 200000 {
		a, b := rng.Int64N(1<<uint(1+rng.IntN(30)))+1, rng.Int64N(1<<uint(1+rng.IntN(28)))+1
		c := rng.Int64N(1<<28) + 1
		// The idle time that makes the other nearly equal, where there is one.
		d := int64(float64(a) * weigh(b) / weigh(c))
		x, y := exact(a, b), exact(d, c)
		gap := new(big.Int).Sub(x, y)
		gap.Abs(gap).Mul(gap, big.NewInt(1<<48))
		if gap.Cmp(x) < 0 {
			near++
			continue
		}
		fx, fy := float64(float64(a)*weigh(b)), float64(float64(d)*weigh(c))
		if (fx > fy) != (x.Cmp(y) > 0) || (fx < fy) != (x.Cmp(y) < 0) {
			t.Fatalf("idle %d size %d, idle %d size %d: %v %v, exactly %v %v", a, b, d, c, fx, fy, x, y)
		}
	}
	if near > 100000 {
		t.Errorf("%d of 200000 pairs too near to tell", near)
	}
	lightest, heaviest := map[int]float64{}, map[int]float64{}
	for range 200000 { // sizes in one bucket are nearly equal
		size := rng.Int64N(1<<uint(1+rng.IntN(62))) + 1
		b, w := bucketOf(size), weigh(size)
		if lightest[b] == 0 || w < lightest[b] {
			lightest[b] = w
		}
		if heaviest[b] = max(heaviest[b], w); heaviest[b] > 1.1*lightest[b] {
			t.Fatalf("bucket %d has weights from %v to %v", b, lightest[b], heaviest[b])
		}
	}
	for root := int64(1); root < 300; root++ {
		if got := weigh(root * root * root * root); got != float64(root*root*root) {
			t.Errorf("weigh(%d^4) = %v", root, got)
		}
	}
}

func TestBucketsCoverAllSizes(t *testing.T) {
	for _, size := range []int64{1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1 << 40, 1<<63 - 1} {
		if b := bucketOf(size); b < 0 || b >= idleBuckets {
			t.Errorf("size %d: bucket %d", size, b)
		}
	}
}
