package demo

import (
	"fmt"
	"math/rand/v2"
)

// Locality is a model of which turns an agent refers to: mostly a small working
// set that drifts, now and then anything.
//
// Source: the demand paging demo, published figures (DESIGN.md, section 1): 1,500
// references over 60 items, a working set of 5, one member replaced with
// probability 0.02 at each reference, 10 % of the references uniform over all.
type Locality struct {
	Items      int     // what can be referred to: 0 to Items-1
	WorkingSet int     // its size; at least 1, at most Items
	Replace    float64 // the chance, at each reference, that one member is replaced by an item outside the set
	Uniform    float64 // the chance that a reference goes to any item, whatever the set
}

// PublishedLocality is the model of the published run over that many items.
func PublishedLocality(items int) Locality {
	return Locality{Items: items, WorkingSet: min(5, items), Replace: 0.02, Uniform: 0.10}
}

// References returns n references of the model. The same seed gives the same
// ones on every machine. The error names a parameter that makes no sense.
func (l Locality) References(n int, seed uint64) ([]int, error) {
	switch {
	case l.WorkingSet < 1 || l.WorkingSet > l.Items:
		return nil, fmt.Errorf("locality: a working set of %d among %d items", l.WorkingSet, l.Items)
	case !isChance(l.Replace) || !isChance(l.Uniform):
		return nil, fmt.Errorf("locality: chances of %g and %g are not both from 0 to 1", l.Replace, l.Uniform)
	case n < 0:
		return nil, fmt.Errorf("locality: %d references", n)
	}
	rng := rand.New(rand.NewPCG(seed, 0x10ca117))
	// The first WorkingSet items of the permutation are the set.
	// invariant: items is a permutation of 0 to Items-1.
	items := rng.Perm(l.Items)
	refs := make([]int, n)
	for i := range refs {
		if rng.Float64() < l.Replace && l.WorkingSet < l.Items {
			in, out := rng.IntN(l.WorkingSet), l.WorkingSet+rng.IntN(l.Items-l.WorkingSet)
			items[in], items[out] = items[out], items[in]
		}
		if rng.Float64() < l.Uniform {
			refs[i] = rng.IntN(l.Items)
		} else {
			refs[i] = items[rng.IntN(l.WorkingSet)]
		}
	}
	return refs, nil
}

func isChance(p float64) bool { return p >= 0 && p <= 1 }
