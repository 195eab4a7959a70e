package engine

import (
	"context"
	"math"
	"slices"

	"ctxdb/cache"
)

// reuse is a reference to a page that was referenced before.
type reuse struct {
	distance int64 // size of the distinct pages since then, its own included
	size     int64
}

// reuses computes the reuse distance of each reference, exactly: the least
// budget under which an LRU of pages would have had it. After Mattson, Gecsei,
// Slutz and Traiger, "Evaluation techniques for storage hierarchies", IBM
// Systems Journal 9(2), 1970; with a Fenwick tree over the references it is
// O(n log n).
func reuses(refs []pageRef, size func(pageRef) int64) (all []reuse, footprint, wanted int64) {
	tree := make([]int64, len(refs)+1)
	add := func(i int, v int64) {
		for i++; i < len(tree); i += i & -i {
			tree[i] += v
		}
	}
	upTo := func(i int) (sum int64) { // of refs[:i]
		for ; i > 0; i -= i & -i {
			sum += tree[i]
		}
		return sum
	}
	last := make(map[pageKey]int, len(refs))
	for i, r := range refs {
		s := size(r)
		wanted += s
		if at, was := last[r.key]; was {
			all = append(all, reuse{distance: upTo(i) - upTo(at), size: s})
			add(at, -s)
		} else {
			footprint += s
		}
		add(i, s)
		last[r.key] = i
	}
	return all, footprint, wanted
}

// quietShare is how much of what is wanted may be brought back under a budget
// that is recommended: half of what ends an episode.
const quietShare = thrashEnd / 2

// suggest is the smallest budget, to within a hundredth, under which what was
// asked for lately would not thrash, in each dimension that has one. The reuse
// distances say where to look: no budget below their quantile can do; a window
// of the same policy, page size and watermark decides, on the same references.
// 0: they don't tell.
func (w *Window) suggest(refs []pageRef) (tokens int, bytes int64) {
	beside := w.pinnedBeside(refs)
	if w.opts.BudgetTokens > 0 {
		tokens = int(w.suggestIn(refs, func(r pageRef) int64 { return int64(r.tokens) }, beside.Tokens, int64(w.opts.BudgetTokens)))
	}
	if w.opts.BudgetBytes > 0 {
		bytes = w.suggestIn(refs, func(r pageRef) int64 { return int64(r.bytes) }, beside.Bytes, w.opts.BudgetBytes)
	}
	return tokens, bytes
}

// pinnedBeside is the cost of the pinned turns that nobody asked for lately.
func (w *Window) pinnedBeside(refs []pageRef) (sum cache.Cost) {
	wanted := map[TurnID]bool{}
	for _, r := range refs {
		wanted[r.key.id()] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.pins {
		if r := w.turns[id]; r != nil && !wanted[id] {
			sum = plus(sum, r.lay.cost)
		}
	}
	return sum
}

func (w *Window) suggestIn(refs []pageRef, size func(pageRef) int64, pinned, present int64) int64 {
	all, footprint, wanted := reuses(refs, size)
	if len(all) == 0 {
		return 0
	}
	slices.SortFunc(all, func(a, b reuse) int { return int(min(max(b.distance-a.distance, -1), 1)) })
	low, beyond := int64(1), int64(0)
	for _, r := range all {
		if beyond += r.size; float64(beyond) > quietShare*float64(wanted) {
			low = r.distance
			break
		}
	}
	high := max(footprint, low) // nothing is ever evicted there
	if w.quiet(refs, size, low, wanted) {
		high = low
	}
	for high-low > max(high/100, 1) {
		if mid := low + (high-low)/2; w.quiet(refs, size, mid, wanted) {
			high = mid
		} else {
			low = mid
		}
	}
	return max(high+pinned, present)
}

// quiet reports whether a window of a budget brings back little of what it is
// asked for.
func (w *Window) quiet(refs []pageRef, size func(pageRef) int64, budget, wanted int64) bool {
	gone := map[pageKey]bool{}
	c, err := cache.New(cache.Options[pageKey, struct{}]{
		BudgetTokens: budget, Policy: w.opts.Policy, LowWatermark: w.opts.LowWatermark,
		OnEvict: func(key pageKey, _ struct{}, _ cache.Cost, _ cache.Reason) { gone[key] = true },
	})
	if err != nil {
		return false
	}
	back := int64(0)
	for _, r := range refs {
		s := size(r)
		_, hit, err := c.Load(context.Background(), r.key, cache.Cost{Tokens: s}, func() (struct{}, error) { return struct{}{}, nil })
		if err != nil || !hit && gone[r.key] {
			back += s
		}
	}
	return float64(back) <= quietShare*float64(wanted)
}

// Why paging pays, or does not.
const (
	reasonEarly   = "too early to say: few references so far"
	reasonFits    = "all fits: nothing had to leave"
	reasonThrash  = "the working set is larger than the window: what leaves is wanted back at once"
	reasonOnce    = "no locality: almost nothing is referenced a second time"
	reasonChance  = "no locality: what is resident is wanted no more often than chance would have it"
	reasonPays    = "paging pays: most of what is wanted is resident"
	reasonPartial = "paging pays in part: the resident pages are wanted more often than others, but most references fault"

	earlyRefs = 64 // references before a verdict
)

// verdict says whether paging pays, and why, in plain words. REQUIRES: mu.
func (w *Window) verdict(evictions int64) (pays bool, reason string) {
	c := &w.counts
	switch {
	case w.local.thrash:
		return false, reasonThrash
	case evictions == 0 && c.refs >= earlyRefs:
		return false, reasonFits
	case c.refs < earlyRefs:
		return false, reasonEarly
	}
	all, footprint, wanted := reuses(w.local.recent(), func(r pageRef) int64 {
		if w.local.byTokens {
			return int64(r.tokens)
		}
		return int64(r.bytes)
	})
	again := int64(0)
	for _, r := range all {
		again += r.size
	}
	hits := float64(c.hitSize) / float64(max(c.refSize, 1))
	chance := math.Min(1, float64(w.local.limit)/float64(max(footprint, 1)))
	switch {
	case float64(again) < 0.1*float64(wanted):
		return false, reasonOnce
	case hits < 1.25*chance && hits < 0.9:
		return false, reasonChance
	case hits < 0.5:
		return true, reasonPartial
	}
	return true, reasonPays
}
