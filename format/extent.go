package format

import (
	"cmp"
	"slices"
)

// span is the space of one extent; end is exclusive.
type span struct{ offset, end int64 }

// disjoint reports whether no two spans share a byte: an extent has one owner.
// It sorts them.
func disjoint(spans []span) bool {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(spans); i++ {
		if spans[i].offset < spans[i-1].end {
			return false
		}
	}
	return true
}
