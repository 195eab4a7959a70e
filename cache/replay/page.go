package replay

import "fmt"

// page is the unit of residency: a part of an item, or all of it.
type page struct {
	item Item
	part uint32
}

// paging cuts items into parts of one size.
type paging struct{ size int64 } // 0: whole items

// parts returns how many parts an item has.
func (g paging) parts(size int64) uint32 {
	if g.size == 0 || size <= g.size {
		return 1
	}
	return uint32((size + g.size - 1) / g.size)
}

// Limits of what a run keeps: of parts in an item, and of parts in all references.
const (
	maxParts    = 1 << 20
	maxInstants = 1 << 30
)

// check refuses pages so small that a trace falls into too many.
func (g paging) check(t *Trace) error {
	var all int64
	for i := range t.Refs {
		n := (t.Refs[i].Size + max(g.size, 1) - 1) / max(g.size, 1)
		if g.size > 0 && n > maxParts {
			return fmt.Errorf("%w: pages of %d cut an item of %d into more than %d", ErrOptions, g.size, t.Refs[i].Size, maxParts)
		}
		all += int64(g.parts(t.Refs[i].Size))
	}
	if all > maxInstants {
		return fmt.Errorf("%w: pages of %d cut the trace into more than %d", ErrOptions, g.size, maxInstants)
	}
	return nil
}

// cost returns the size of one part.
func (g paging) cost(size int64, part uint32) int64 {
	if g.size == 0 {
		return size
	}
	return min(g.size, size-int64(part)*g.size)
}

// needed returns the parts first <= part < end that a reference needs. Where the
// trace does not say, a quote and an edit need one part, chosen by a hash of
// step and item, and everything else needs them all.
func (g paging) needed(r *Ref) (first, end uint32) {
	n := g.parts(r.Size)
	switch {
	case n == 1:
		return 0, 1
	case r.To > 0:
		first = uint32(r.From / g.size)
		return first, max(first, uint32((r.To-1)/g.size)) + 1
	case r.Kind == Quote || r.Kind == Edit:
		first = uint32(mix(uint64(r.Step)<<32^uint64(r.Item)) % uint64(n))
		return first, first + 1
	}
	return 0, n
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
