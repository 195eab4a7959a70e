package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Model is the locality model: which turns an agent refers to when most
// references go to a small working set that drifts, and now and then anything is
// wanted.
//
// Source: the demand paging demo's published figures:
// 1,500 references over 60 items of 60,728 tokens together, a working set of 5,
// one member replaced with probability 0.02 at each reference, 10 % of the
// references uniform over all, sizes lognormal with sigma 0.8.
type Model struct {
	Items       int     // what can be referred to
	References  int     // how many there are
	WorkingSet  int     // members; at least 1, at most Items
	Replace     float64 // the chance, at each reference, that one member is replaced by an item outside the set
	Uniform     float64 // the chance that a reference goes to any item, whatever the set
	TotalTokens int64   // of all items together
	Sigma       float64 // of the logarithm of an item's size
	Seed        uint64
}

// PublishedModel is the model of the published run.
func PublishedModel(seed uint64) Model {
	return Model{
		Items: 60, References: 1500, WorkingSet: 5, Replace: 0.02, Uniform: 0.10,
		TotalTokens: 60728, Sigma: 0.8, Seed: seed,
	}
}

func (m Model) check() error {
	switch {
	case m.WorkingSet < 1 || m.WorkingSet > m.Items || m.Items > MaxItems:
		return fmt.Errorf("replay: model: a working set of %d among %d items", m.WorkingSet, m.Items)
	case !isChance(m.Replace) || !isChance(m.Uniform):
		return fmt.Errorf("replay: model: chances of %g and %g are not both from 0 to 1", m.Replace, m.Uniform)
	case m.References < 0 || m.References > MaxRefs:
		return fmt.Errorf("replay: model: %d references", m.References)
	case m.TotalTokens < int64(m.Items) || m.TotalTokens > MaxSize:
		return fmt.Errorf("replay: model: %d tokens for %d items", m.TotalTokens, m.Items)
	case !(m.Sigma >= 0 && m.Sigma <= 5):
		return fmt.Errorf("replay: model: a sigma of %g", m.Sigma)
	}
	return nil
}

func isChance(p float64) bool { return p >= 0 && p <= 1 }

// Draw returns the items referred to, in order. The same seed gives the same
// ones on every machine. The error names a parameter that makes no sense.
func (m Model) Draw() ([]Item, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(m.Seed, 0x10ca117))
	// The first WorkingSet items of the permutation are the set.
	// invariant: items is a permutation of 0 to Items-1.
	items := rng.Perm(m.Items)
	refs := make([]Item, m.References)
	for i := range refs {
		if rng.Float64() < m.Replace && m.WorkingSet < m.Items {
			in, out := rng.IntN(m.WorkingSet), m.WorkingSet+rng.IntN(m.Items-m.WorkingSet)
			items[in], items[out] = items[out], items[in]
		}
		if rng.Float64() < m.Uniform {
			refs[i] = Item(rng.IntN(m.Items))
		} else {
			refs[i] = Item(items[rng.IntN(m.WorkingSet)])
		}
	}
	return refs, nil
}

// DrawSizes returns the size of each item: lognormal, scaled to TotalTokens
// together, at least 1 each. They come from a stream of numbers of their own, so
// References does not change them.
func (m Model) DrawSizes() ([]int64, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(m.Seed, 0x512e5))
	weights := make([]float64, m.Items)
	var sum float64
	for i := range weights {
		weights[i] = math.Exp(float64(m.Sigma * rng.NormFloat64()))
		sum += weights[i]
	}
	// Each item gets what is due after it less what was given before it, so that
	// roundings do not add up.
	sizes := make([]int64, m.Items)
	spare := m.TotalTokens - int64(m.Items)
	var due float64
	var given int64
	for i, w := range weights {
		due += w
		share := int64(math.Round(due / sum * float64(spare)))
		sizes[i] = 1 + share - given
		given = share
	}
	return sizes, nil
}

// Trace returns the model's references with sizes, as a plain trace.
func (m Model) Trace() (*Trace, error) {
	refs, err := m.Draw()
	if err != nil {
		return nil, err
	}
	sizes, err := m.DrawSizes()
	if err != nil {
		return nil, err
	}
	t := &Trace{Name: fmt.Sprintf("model-%d", m.Seed), Items: m.Items, IsPlain: true}
	for i, it := range refs {
		t.Refs = append(t.Refs, Ref{Step: Step(i + 1), Item: it, Size: sizes[it], Parent: it})
	}
	return t, nil
}
