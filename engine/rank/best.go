package rank

import (
	"cmp"
	"slices"
)

// best keeps the k best hits in a heap whose root is the worst of them.
type best struct {
	k    int
	heap []Hit
}

func (b *best) reset(k int) { b.k, b.heap = k, b.heap[:0] }

// order is ascending from the best: score, then the later turn.
func order(x, y Hit) int {
	if c := cmp.Compare(y.Score, x.Score); c != 0 {
		return c
	}
	if c := cmp.Compare(y.Part, x.Part); c != 0 {
		return c
	}
	return cmp.Compare(y.Ordinal, x.Ordinal)
}

func (b *best) full() bool { return len(b.heap) == b.k && b.k > 0 }

// admits tells whether a hit would be kept.
func (b *best) admits(h Hit) bool {
	return len(b.heap) < b.k || b.k > 0 && order(h, b.heap[0]) < 0
}

// add keeps a hit that is admitted.
func (b *best) add(h Hit) {
	if len(b.heap) < b.k {
		b.heap = append(b.heap, h)
		for i := len(b.heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if order(b.heap[parent], b.heap[i]) >= 0 {
				break
			}
			b.heap[parent], b.heap[i] = b.heap[i], b.heap[parent]
			i = parent
		}
		return
	}
	b.heap[0] = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(b.heap) {
			break
		}
		if right := child + 1; right < len(b.heap) && order(b.heap[right], b.heap[child]) > 0 {
			child = right
		}
		if order(b.heap[i], b.heap[child]) >= 0 {
			break
		}
		b.heap[i], b.heap[child] = b.heap[child], b.heap[i]
		i = child
	}
}

func (b *best) sorted() []Hit {
	hits := slices.Clone(b.heap)
	slices.SortFunc(hits, order)
	return hits
}
