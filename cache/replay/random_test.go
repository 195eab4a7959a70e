package replay

import (
	"context"
	"math/rand/v2"
	"testing"
)

// randomPlain makes a plain trace of few items of sizes up to largest.
func randomPlain(rng *rand.Rand, items, refs int, largest int64) *Trace {
	sizes := make([]int64, items)
	for i := range sizes {
		sizes[i] = 1 + rng.Int64N(largest)
	}
	t := &Trace{Name: "random", Items: items, IsPlain: true}
	for i := range refs {
		it := Item(rng.IntN(items))
		t.Refs = append(t.Refs, Ref{Step: Step(i + 1), Item: it, Size: sizes[it], Parent: it})
	}
	return t
}

// randomSession makes a session trace as Extract would: the tail is what was made
// in the last four steps, and recalls go to what is older. With exact it says which
// part each recall needs.
func randomSession(rng *rand.Rand, steps int, largest int64, exact bool) *Trace {
	t := &Trace{Name: "random"}
	var made []Ref
	for s := Step(1); s <= Step(steps); s++ {
		var old []Ref
		for _, r := range made {
			if r.Step >= s-DefaultRecent {
				r.Step, r.Kind = s, Tail
				t.Refs = append(t.Refs, r)
			} else {
				old = append(old, r)
			}
		}
		for range rng.IntN(4) {
			if len(old) == 0 {
				break
			}
			at := rng.IntN(len(old))
			r := old[at]
			old = append(old[:at:at], old[at+1:]...)
			r.Step, r.Kind = s, []Kind{Reread, Edit, Quote, DeadReread, DeadEdit}[rng.IntN(5)]
			if exact && r.Kind.IsRecall() {
				r.From = rng.Int64N(r.Size)
				r.To = r.From + 1 + rng.Int64N(r.Size-r.From)
			}
			t.Refs = append(t.Refs, r)
		}
		for range rng.IntN(3) {
			it := Item(t.Items)
			t.Items++
			r := Ref{Step: s, Item: it, Size: 1 + rng.Int64N(largest), Kind: New, ItemKind: "out", Parent: it}
			made = append(made, r)
			t.Refs = append(t.Refs, r)
		}
	}
	return t
}

// seeds runs a test on many seeds and prints the one that fails.
func seeds(t *testing.T, n uint64, test func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	for seed := range n {
		test(t, rand.New(rand.NewPCG(seed, 1)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func simulate(t *testing.T, tr *Trace, o Options) Run {
	t.Helper()
	run, err := Simulate(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func belady(t *testing.T, tr *Trace, o Options) Run {
	t.Helper()
	run, err := Belady(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func lowerBound(t *testing.T, tr *Trace, o Options) Bound {
	t.Helper()
	b, err := LowerBound(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
