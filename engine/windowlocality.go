package engine

import (
	"math"

	"ctxdb/cache"
)

// locality watches what a window is asked for, to tell when paging does not
// pay: a working set larger than the window, or none at all.
type locality struct {
	byTokens bool
	limit    int64 // of the dimension that is watched
	ring     []pageRef
	next     int // in ring, once it is full
	total    uint64
	buckets  [5]bucket // the references of about the last budget's worth; [0] is being filled
	thrash   bool
	unsaid   bool // an episode began that was not warned of yet
	episodes int
	warnAt   uint64 // total at which the next warning may come
	warnGap  uint64 // how far it was from the one before
}

// pageRef is a reference to a page.
type pageRef struct {
	key           pageKey
	tokens, bytes uint32
}

// bucket is what a quarter of the budget of references wanted, and how much of
// it had been evicted before.
type bucket struct{ want, back int64 }

const (
	recentRefs  = 8192 // page references that reuse distances are computed from
	thrashBegin = 0.5  // share of what is wanted that has to be brought back
	thrashEnd   = 0.25
)

func (l *locality) init(limit cache.Cost) {
	l.byTokens = limit.Tokens != math.MaxInt64
	l.limit = limit.Bytes
	if l.byTokens {
		l.limit = limit.Tokens
	}
	l.ring = make([]pageRef, 0, recentRefs)
}

// sizeOf is the cost in the dimension that is watched: tokens, where they have
// a budget.
func (l *locality) sizeOf(c cache.Cost) int64 {
	if l.byTokens {
		return c.Tokens
	}
	return c.Bytes
}

// saw notes a reference to a page.
func (l *locality) saw(key pageKey, c cache.Cost) {
	ref := pageRef{key, uint32(min(c.Tokens, math.MaxUint32)), uint32(min(c.Bytes, math.MaxUint32))}
	l.total++
	if len(l.ring) < recentRefs {
		l.ring = append(l.ring, ref)
		return
	}
	l.ring[l.next] = ref
	if l.next++; l.next == recentRefs {
		l.next = 0
	}
}

// recent lists the latest references, oldest first.
func (l *locality) recent() []pageRef {
	return append(append(make([]pageRef, 0, len(l.ring)), l.ring[l.next:]...), l.ring[:l.next]...)
}

// weigh counts what a reference wanted, and what of it had been evicted before.
// A working set that does not fit is brought back at half of the rate at which
// it is used, or more, before a single pass over it has ended.
func (l *locality) weigh(want, back int64) {
	b := &l.buckets[0]
	b.want += want
	b.back += back
	full := b.want >= max(l.limit/4, 1)
	if full || back > 0 {
		l.judge()
	}
	if full {
		copy(l.buckets[1:], l.buckets[:])
		l.buckets[0] = bucket{}
	}
}

func (l *locality) judge() {
	var sum bucket
	for _, b := range l.buckets {
		sum.want += b.want
		sum.back += b.back
	}
	share := float64(sum.back) / float64(max(sum.want, 1))
	switch {
	case !l.thrash && sum.want >= l.limit/2 && share >= thrashBegin:
		l.thrash, l.unsaid = true, true
		l.episodes++
	case l.thrash && share < thrashEnd:
		l.thrash = false
	}
}

// mayWarn reports whether an episode is to be warned of now. In a small window
// episodes come and go every few references, and what would end them takes
// milliseconds to find: each warning is twice as far from the one before.
func (l *locality) mayWarn() bool {
	if !l.unsaid || !l.thrash || l.total < l.warnAt {
		return false
	}
	l.unsaid = false
	l.warnGap = max(2*l.warnGap, recentRefs)
	l.warnAt = l.total + l.warnGap
	return true
}

// warnOfThrash says that the working set does not fit, and what would end it:
// at the first episode at once. REQUIRES: faults.
func (w *Window) warnOfThrash() {
	w.mu.Lock()
	if !w.local.mayWarn() {
		w.mu.Unlock()
		return
	}
	refs := w.local.recent()
	w.mu.Unlock()
	tokens, bytes := w.suggest(refs)
	w.db.log.Warn("a window thrashes: what is being worked on is larger than it", "window", w.name,
		"budget_tokens", w.opts.BudgetTokens, "budget_bytes", w.opts.BudgetBytes,
		"suggested_budget_tokens", tokens, "suggested_budget_bytes", bytes)
}
