package engine

import (
	"cmp"
	"slices"
	"time"

	"ctxdb/format"
)

const (
	// tidyGain is how much shorter Close must be able to make a file before it
	// moves anything: this many bytes, or an eighth of the file.
	tidyGain = 64 << 10
	// tidyRounds bounds the states that Close publishes for that.
	tidyRounds = 6
	// tidyEffort bounds what is moved only to make holes larger, in bytes for each
	// byte that the file becomes shorter.
	tidyEffort = 2
)

// moves says where everything goes.
type moves struct {
	extents map[int64]int64 // segments, runs of both sorts and the aside, where they move: old offset to new
	leaves  []int64         // the new place of each leaf
	root    int64
}

// occupied is where the extents of a state lie.
type occupied struct {
	objects []span // what can be moved; the first one first
	catalog []span // leaves and root, which each state writes anew
	fixed   []span // what is lost and kept as it is
	leaves  int    // of catalog; the root is the last
}

func occupiedBy(v *view) *occupied {
	o := &occupied{leaves: len(v.leaves)}
	movable := map[int64]bool{}
	for _, leaf := range v.leaves {
		for _, e := range leaf {
			movable[e.Offset] = true
		}
	}
	for _, r := range v.root.Runs {
		movable[r.Offset] = true
	}
	for _, r := range v.root.Vectors {
		movable[r.Offset] = true
	}
	if v.root.AsideOffset != 0 {
		movable[v.root.AsideOffset] = true
	}
	written := map[int64]bool{v.super.RootOffset: true}
	for i := range v.root.Leaves {
		o.catalog = append(o.catalog, span{off: v.root.Leaves[i].Offset, len: format.LeafSize})
		written[v.root.Leaves[i].Offset] = true
	}
	o.catalog = append(o.catalog, span{off: v.super.RootOffset, len: format.AlignUp(v.root.Size())})
	for _, u := range v.used() {
		switch {
		case movable[u.off]:
			o.objects = append(o.objects, u)
		case !written[u.off]:
			o.fixed = append(o.fixed, u)
		}
	}
	slices.SortFunc(o.objects, func(a, b span) int { return cmp.Compare(a.off, b.off) })
	return o
}

func (o *occupied) all() []span { return slices.Concat(o.objects, o.catalog, o.fixed) }

// end is where the last extent ends.
func (o *occupied) end() int64 {
	end := int64(format.FirstExtent)
	for _, x := range o.all() {
		end = max(end, x.end())
	}
	return end
}

// planMoves returns what makes the file of a state shorter; nil: nothing does.
func planMoves(v *view) *moves {
	if v.super.RootOffset == 0 {
		return nil
	}
	return occupiedBy(v).plan()
}

// plan returns what makes the file shorter, or what makes a hole large enough for
// that; nil: neither is worth it.
func (o *occupied) plan() *moves {
	enough := func(gain int64) bool { return gain > 0 && (gain >= tidyGain || gain >= o.end()/8) }
	shorter := o.shorten()
	if enough(o.end() - o.after(shorter).end()) {
		return shorter
	}
	denser, effort := o.gather()
	then := o.after(denser)
	gain := o.end() - then.after(then.shorten()).end()
	if effort == 0 || !enough(gain) || effort > tidyEffort*gain {
		return nil
	}
	return denser
}

// shorten fills holes from the front with what lies last, until something does
// not fit.
func (o *occupied) shorten() *moves {
	s := newSpace(o.all(), 0, time.Now)
	plan := &moves{extents: map[int64]int64{}}
	for _, x := range slices.Backward(o.objects) {
		to, ok := s.allocBelow(x.len, x.off)
		if !ok {
			break
		}
		plan.extents[x.off] = to
	}
	o.placeCatalog(plan, s)
	return plan
}

// gather moves everything down that fits into a hole before it, and says how
// many bytes that are.
func (o *occupied) gather() (plan *moves, bytes int64) {
	s := newSpace(o.all(), 0, time.Now)
	plan = &moves{extents: map[int64]int64{}}
	for _, x := range o.objects {
		if to, ok := s.allocBelow(x.len, x.off); ok {
			plan.extents[x.off] = to
			bytes += x.len
		}
	}
	o.placeCatalog(plan, s)
	return plan, bytes
}

func (o *occupied) placeCatalog(plan *moves, s *space) {
	for range o.leaves {
		plan.leaves = append(plan.leaves, s.alloc(format.LeafSize))
	}
	plan.root = s.alloc(o.catalog[o.leaves].len)
}

// after is what is occupied once the plan is carried out.
func (o *occupied) after(plan *moves) *occupied {
	next := &occupied{objects: slices.Clone(o.objects), fixed: o.fixed, leaves: o.leaves}
	for i, x := range next.objects {
		if to, ok := plan.extents[x.off]; ok {
			next.objects[i].off = to
		}
	}
	slices.SortFunc(next.objects, func(a, b span) int { return cmp.Compare(a.off, b.off) })
	for _, at := range plan.leaves {
		next.catalog = append(next.catalog, span{off: at, len: format.LeafSize})
	}
	next.catalog = append(next.catalog, span{off: plan.root, len: o.catalog[o.leaves].len})
	return next
}
