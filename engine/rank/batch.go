package rank

import (
	"iter"
	"slices"

	"ctxdb/engine/lex"
)

// Batch indexes turns that are all there before anybody asks for them: those of
// a segment that is being made. It is several times as fast as a Memory. It is
// not safe for concurrent use; the part it gives is.
type Batch struct {
	roster roster
	found  []uint64 // term << 32 | ordinal << 2 | level
}

// Add indexes a turn and keeps nothing of its memory. Turns get ordinals from 0
// on, up to 2^28 of them.
func (b *Batch) Add(t Turn) {
	ordinal := uint64(len(b.roster.turns))
	for _, tc := range t.Doc.Terms {
		b.found = append(b.found, uint64(tc.Term)<<32|ordinal<<2|uint64(levelOf(roundCount(tc.Count))))
	}
	b.roster.add(&t)
}

// Part is the index of the turns. The Batch must not be used any more.
func (b *Batch) Part() Part {
	sortByTerm(b.found)
	columns, seats := b.roster.columns()
	return &batchPart{columns: columns, found: b.found, seats: seats}
}

// batchPart is a finished Batch.
type batchPart struct {
	columns *Columns
	found   []uint64 // ascending
	seats   []uint32 // by ordinal; nil where they are the same
}

func (p *batchPart) Columns() (*Columns, error) { return p.columns, nil }

// of cuts the entries of a term out.
func (p *batchPart) of(t lex.Term) []uint64 {
	from, _ := slices.BinarySearch(p.found, uint64(t)<<32)
	to, _ := slices.BinarySearch(p.found, uint64(t+1)<<32)
	if t == 1<<lex.TermBits-1 {
		to = len(p.found)
	}
	return p.found[from:to]
}

func (p *batchPart) Count(t lex.Term) (int, error) { return len(p.of(t)), nil }

func (p *batchPart) Postings(dst []Posting, t lex.Term) ([]Posting, error) {
	return p.appendPostings(dst, p.of(t)), nil
}

func (p *batchPart) appendPostings(dst []Posting, found []uint64) []Posting {
	from := len(dst)
	for _, x := range found {
		dst = append(dst, Posting{uint32(x) >> 2, countLevels[x&3]})
	}
	if p.seats != nil {
		list := dst[from:]
		for i := range list {
			list[i].Seat = p.seats[list[i].Seat]
		}
		sortBySeat(list)
	}
	return dst
}

func (p *batchPart) Terms() iter.Seq2[lex.Term, error] {
	return func(yield func(lex.Term, error) bool) {
		for found := p.found; len(found) > 0; {
			if !yield(lex.Term(found[0]>>32), nil) {
				return
			}
			found = found[sameTerm(found):]
		}
	}
}

// lists goes through all terms with their postings, which are good until the
// next one.
func (p *batchPart) lists(yield func(lex.Term, []Posting)) {
	var list []Posting
	for found := p.found; len(found) > 0; {
		n := sameTerm(found)
		list = p.appendPostings(list[:0], found[:n])
		yield(lex.Term(found[0]>>32), list)
		found = found[n:]
	}
}

// terms is the number of different ones.
func (p *batchPart) terms() (n int) {
	for found := p.found; len(found) > 0; n++ {
		found = found[sameTerm(found):]
	}
	return n
}

// sameTerm is the number of entries at the front that are of one term.
func sameTerm(found []uint64) int {
	n := 1
	for n < len(found) && found[n]>>32 == found[0]>>32 {
		n++
	}
	return n
}

// sortByTerm sorts entries by their upper half and keeps the order of equal
// ones: a radix sort, from the lowest digit on.
func sortByTerm(x []uint64) {
	const digit = 11
	y := make([]uint64, len(x))
	for shift := 32; shift < 64; shift += digit {
		var at [1 << digit]int
		for _, v := range x {
			at[v>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, v := range x {
			d := v >> shift & (1<<digit - 1)
			y[at[d]] = v
			at[d]++
		}
		x, y = y, x
	}
	copy(y, x) // three passes: what is sorted lies in the other one
}
