package segment

import "sync/atomic"

// pageMarks remember which pages of an immutable section were verified, a bit a
// page. nil remembers nothing.
type pageMarks []atomic.Uint64

func newPageMarks(pages int) pageMarks { return make(pageMarks, (pages+63)/64) }

func (m pageMarks) has(page int) bool {
	return m != nil && m[page/64].Load()>>(page%64)&1 != 0
}

func (m pageMarks) add(page int) {
	if m != nil {
		m[page/64].Or(1 << (page % 64))
	}
}

func (m pageMarks) clear() {
	for i := range m {
		m[i].Store(0)
	}
}
