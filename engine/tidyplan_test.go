package engine

import (
	"math/rand/v2"
	"testing"
	"time"

	"ctxdb/format"
)

// sound fails unless nothing overlaps, nothing lies where something lay before
// the plan was published, and all is still there.
func sound(t *testing.T, before, after *occupied) {
	t.Helper()
	if a, b, found := overlap(after.all()); found {
		t.Fatalf("%d to %d and %d to %d overlap", a.off, a.end(), b.off, b.end())
	}
	stayed := map[span]bool{}
	for _, x := range before.all() {
		stayed[x] = true
	}
	both := before.all()
	var bytes int64
	for _, x := range after.all() {
		if !stayed[x] {
			both = append(both, x)
		}
		bytes += x.len
	}
	for _, x := range before.all() {
		bytes -= x.len
	}
	if a, b, found := overlap(both); found {
		t.Fatalf("%d to %d is written over %d to %d, which the state before still needs", b.off, b.end(), a.off, a.end())
	}
	if bytes != 0 || len(after.all()) != len(before.all()) {
		t.Fatalf("%d extents became %d, %d bytes more", len(before.all()), len(after.all()), bytes)
	}
}

// carriedOut carries plans out until there is none, as Close does.
func carriedOut(t *testing.T, o *occupied) *occupied {
	t.Helper()
	for range tidyRounds {
		plan := o.plan()
		if plan == nil {
			return o
		}
		next := o.after(plan)
		sound(t, o, next)
		o = next
	}
	return o
}

// Holes that are each too small for the last extent are made one: what is small
// between them moves first.
func TestHolesAreGathered(t *testing.T) {
	const k = 1 << 10
	o := &occupied{
		objects: []span{{off: 72 * k, len: 32 * k}, {off: 264 * k, len: 64 * k}, {off: 812 * k, len: 148 * k}, {off: 960 * k, len: 108 * k}, {off: 1588 * k, len: 784 * k}},
		catalog: []span{{off: 108 * k, len: 4 * k}, {off: 112 * k, len: 4 * k}}, leaves: 1,
	}
	used := int64(0)
	for _, x := range o.all() {
		used += x.len
	}
	after := carriedOut(t, o)
	if free := after.end() - format.FirstExtent - used; free > used/3 {
		t.Errorf("%d bytes are used, %d are free", used, free)
	}
}

// A catalog that moved behind the old end of the file lies in no free space.
func TestSpaceBehindMoves(t *testing.T) {
	const k = 1 << 10
	for _, end := range []int64{96 * k, 100 * k, 160 * k} {
		s := newSpace([]span{{off: 72 * k, len: 28 * k}}, 0, time.Now)
		s.extend(end)
		if s.end != max(end, 100*k) {
			t.Errorf("extended to %d: the end is %d", end, s.end)
		}
		for _, f := range s.free {
			if f.len <= 0 || f.off < 100*k && f.end() > 72*k {
				t.Errorf("extended to %d: free is %v", end, s.free)
			}
		}
		if got := s.trim(); got != 100*k {
			t.Errorf("extended to %d: %d are left", end, got)
		}
	}
}

// Whatever the state, a plan is sound and the file never becomes longer.
func TestPlansAreSound(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	gained := 0
	for range 2000 {
		at := int64(format.FirstExtent)
		place := func(most int64) span {
			if rng.IntN(2) == 0 {
				at += format.AlignUp(1 + rng.Int64N(400<<10))
			}
			x := span{off: at, len: format.AlignUp(1 + rng.Int64N(most))}
			at = x.end()
			return x
		}
		o := &occupied{leaves: rng.IntN(3)}
		for range 1 + rng.IntN(12) {
			o.objects = append(o.objects, place([]int64{8 << 10, 100 << 10, 1 << 20}[rng.IntN(3)]))
		}
		for range o.leaves {
			o.catalog = append(o.catalog, place(format.LeafSize))
		}
		o.catalog = append(o.catalog, place(16<<10))
		if rng.IntN(4) == 0 {
			o.fixed = append(o.fixed, place(100<<10))
		}
		after := carriedOut(t, o)
		if after.end() > o.end() {
			t.Fatalf("the file ended at %d, and at %d after it was made shorter", o.end(), after.end())
		}
		if after.end() < o.end() {
			gained++
		}
	}
	if gained < 500 {
		t.Errorf("only %d of 2,000 files became shorter", gained)
	}
}
