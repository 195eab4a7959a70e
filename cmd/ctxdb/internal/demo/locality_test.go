package demo

import (
	"math"
	"slices"
	"testing"
)

// TestLocalityIsTheModel measures on many references what the model states.
func TestLocalityIsTheModel(t *testing.T) {
	const n = 200_000
	l := PublishedLocality(60)
	refs, err := l.References(n, 7)
	if err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for i := 20; i < n; i++ {
		if slices.Contains(refs[i-20:i], refs[i]) {
			repeats++
		}
	}
	// A reference to the set, 0.9 of all, repeats unless its member was not
	// referred to in 20 steps (0.82^20 = 0.019) or came in lately (a member is
	// replaced with 0.004 a step; the sum of 0.004 x 0.82^age is 0.022). Of the
	// uniform ones 7 in 60 repeat by chance: 0.9 x 0.96 + 0.1 x 0.12 = 0.877.
	if got := float64(repeats) / n; math.Abs(got-0.877) > 0.01 {
		t.Errorf("%.3f of the references repeat one of the 20 before, want 0.877", got)
	}
	seen := make([]int, l.Items)
	for _, r := range refs {
		seen[r]++
	}
	// In the long run every item is in the set equally often. A stay is 250
	// references of which 45 go to it, so an item's count varies by about 11 %.
	for i, c := range seen {
		if math.Abs(float64(c)/n*60-1) > 0.6 {
			t.Errorf("item %d has %d of %d references", i, c, n)
		}
	}
}

func TestLocalityExtremes(t *testing.T) {
	fixed := Locality{Items: 60, WorkingSet: 5}
	refs, err := fixed.References(2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(refs)
	if got := len(slices.Compact(refs)); got != 5 {
		t.Errorf("a set that is never replaced has %d members, want 5", got)
	}
	whole := Locality{Items: 3, WorkingSet: 3, Replace: 1, Uniform: 0}
	if refs, err := whole.References(50, 1); err != nil || slices.Max(refs) != 2 || slices.Min(refs) != 0 {
		t.Errorf("a set of everything: %v, %v", refs, err)
	}
	if refs, err := PublishedLocality(60).References(0, 1); err != nil || len(refs) != 0 {
		t.Errorf("no references: %v, %v", refs, err)
	}
}

func TestLocalityRefusesNonsense(t *testing.T) {
	for _, l := range []Locality{
		{Items: 60}, {Items: 4, WorkingSet: 5}, {Items: 60, WorkingSet: 5, Replace: 1.5}, {Items: 60, WorkingSet: 5, Uniform: -0.1},
		{Items: 60, WorkingSet: 5, Uniform: math.NaN()}, PublishedLocality(0),
	} {
		if _, err := l.References(10, 1); err == nil {
			t.Errorf("%+v was accepted", l)
		}
	}
	if _, err := PublishedLocality(60).References(-1, 1); err == nil {
		t.Error("-1 references were accepted")
	}
}
