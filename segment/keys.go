package segment

import (
	"iter"
	"math/bits"

	"ctxdb/format"
)

// FindKey appends to dst the ids of the turns whose key has that hash, in
// order. Hashes collide: the key that is stored in a turn decides.
func (s *Segment) FindKey(hash uint64, dst []uint64) ([]uint64, error) {
	l, err := s.enter()
	if err != nil {
		return dst, err
	}
	defer s.Release()
	out, err := l.keys.findKey(hash, dst)
	return out, s.located(err)
}

// HasKey reports whether a turn has that very key. It decodes the block that the
// turn begins in and allocates nothing. Errors are those of Record.
func (s *Segment) HasKey(id uint64, key string) (bool, error) {
	l, err := s.enter()
	if err != nil {
		return false, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return false, err
	}
	sc := getScratch()
	defer putScratch(sc)
	meta, err := s.meta(l, sc, turn)
	if err != nil {
		return false, s.located(err)
	}
	has, ok := format.MetaKey(meta)
	if !ok {
		return false, s.located(format.Corruptf("turn record", sc.at, "a field breaks the rules"))
	}
	return string(has) == key, nil
}

// Keys goes through the hashes and ids of all keys, in order, each page verified.
// The first error ends it.
func (s *Segment) Keys() iter.Seq2[format.KeyEntry, error] {
	return func(yield func(format.KeyEntry, error) bool) {
		l, err := s.enter()
		if err != nil {
			yield(format.KeyEntry{}, err)
			return
		}
		defer s.Release()
		if err := l.keys.each(yield); err != nil {
			yield(format.KeyEntry{}, s.located(err))
		}
	}
}

// each yields the key entries of all pages. The error, if any, is not yielded.
func (p *pageSet) each(yield func(format.KeyEntry, error) bool) error {
	page := make([]byte, format.IndexPageSize)
	var last format.KeyEntry
	for i := range p.pages {
		if err := p.load(page, i); err != nil {
			return err
		}
		for j := range p.count(i) {
			e := format.KeyEntryAt(page, j)
			if (i > 0 || j > 0) && !last.Less(e) {
				return format.Corruptf("index page", p.at(i), "entry %d is out of order", j)
			}
			last = e
			if !yield(e, nil) {
				return nil
			}
		}
	}
	return nil
}

// keyRange is the hashes of one verified page.
type keyRange struct{ first, last uint64 }

// findKey appends the ids of the entries with that hash.
//
// Hashes are evenly spread, so the page is guessed from the hash (interpolation
// search: Peterson 1957); after two guesses it halves instead, so that crafted
// pages cost no more than a binary search.
func (p *pageSet) findKey(hash uint64, dst []uint64) ([]uint64, error) {
	sc := getScratch()
	defer putScratch(sc)
	page := sc.cursor.page
	// invariant: pages below lo end before hash, pages from hi on begin behind it.
	lo, hi := 0, p.pages
	low, high := uint64(0), ^uint64(0) // the hashes that pages lo to hi may have
	for guess := 0; lo < hi; guess++ {
		i := int(uint(lo+hi) >> 1)
		if guess < 2 {
			i = lo + interpolate(hash, low, high, hi-lo)
		}
		r, err := p.loadKeys(page, i)
		if err != nil {
			return dst, err
		}
		switch {
		case hash < r.first:
			hi, high = i, r.first
		case hash > r.last:
			lo, low = i+1, r.last
		default:
			return p.gather(page, i, r, hash, dst)
		}
	}
	return dst, nil
}

// interpolate is where hash lies among n pages that cover low to high.
func interpolate(hash, low, high uint64, n int) int {
	if hash <= low || high <= low {
		return 0
	}
	if hash >= high {
		return n - 1
	}
	above, rest := bits.Mul64(hash-low, uint64(n))
	at, _ := bits.Div64(above, rest, high-low) // hash < high, so the quotient is below n
	return min(int(at), n-1)
}

// loadKeys verifies page i.
func (p *pageSet) loadKeys(page []byte, i int) (keyRange, error) {
	if err := p.load(page, i); err != nil {
		return keyRange{}, err
	}
	r := keyRange{format.KeyEntryAt(page, 0).Hash, format.KeyEntryAt(page, p.count(i)-1).Hash}
	if r.first > r.last {
		return r, format.Corruptf("index page", p.at(i), "entries are out of order")
	}
	return r, nil
}

// gather collects the entries with that hash from page i, which is loaded and
// has some or covers it, and from its neighbours as long as they share the hash.
func (p *pageSet) gather(page []byte, i int, r keyRange, hash uint64, dst []uint64) ([]uint64, error) {
	start := i
	for r.first == hash && start > 0 {
		previous, err := p.loadKeys(page, start-1)
		if err != nil {
			return dst, err
		}
		if previous.last != hash {
			break
		}
		start, r = start-1, previous
	}
	for j := start; j < p.pages; j++ {
		r, err := p.loadKeys(page, j)
		if err != nil {
			return dst, err
		}
		if r.first > hash {
			break
		}
		dst = p.collect(page, j, hash, dst)
		if r.last != hash {
			break
		}
	}
	return dst, nil
}

// collect appends the ids with that hash from a loaded page.
func (p *pageSet) collect(page []byte, i int, hash uint64, dst []uint64) []uint64 {
	lo, hi := 0, p.count(i)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if format.KeyEntryAt(page, mid).Hash < hash {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < p.count(i); lo++ {
		e := format.KeyEntryAt(page, lo)
		if e.Hash != hash {
			break
		}
		dst = append(dst, e.ID)
	}
	return dst
}
