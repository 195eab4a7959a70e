package rank

import (
	"bytes"
	"encoding/binary"
	"iter"

	"ctxdb/engine/lex"

	"github.com/cespare/xxhash/v2"
)

// addTerms merges the terms of all sources into directory and postings, and
// returns their number. The number of buckets must be known before, so terms
// are counted first, those of forgotten turns included.
func (b *builder) addTerms(sources []Source) (int, error) {
	if len(sources) == 1 && sources[0].Drop == nil {
		if p, ok := sources[0].Part.(*batchPart); ok {
			return b.addBatch(p), nil
		}
	}
	var h header
	kept := 0
	for _, err := range mergedTerms(sources) {
		if err != nil {
			return 0, err
		}
		kept++
	}
	h.bucketBits = bucketBitsFor(kept)
	b.bucketBits, kept = h.bucketBits, 0
	next := 0 // bucket to begin
	var list []Posting
	for term, err := range mergedTerms(sources) {
		if err != nil {
			return 0, err
		}
		if list, err = b.merged(sources, term, list[:0]); err != nil {
			return 0, err
		}
		if len(list) == 0 {
			continue
		}
		for ; next <= h.bucketOf(term); next++ {
			b.beginBucket()
		}
		kept++
		b.appendTerm(&h, term, list)
	}
	for ; next <= 1<<h.bucketBits; next++ {
		b.beginBucket()
	}
	return kept, nil
}

// addBatch takes all terms of a batch, whose turns sit already where they will.
func (b *builder) addBatch(p *batchPart) int {
	var h header
	terms := p.terms()
	h.bucketBits = bucketBitsFor(terms)
	b.bucketBits = h.bucketBits
	next := 0 // bucket to begin
	p.lists(func(term lex.Term, list []Posting) {
		for ; next <= h.bucketOf(term); next++ {
			b.beginBucket()
		}
		b.appendTerm(&h, term, list)
	})
	for ; next <= 1<<h.bucketBits; next++ {
		b.beginBucket()
	}
	return terms
}

func (b *builder) beginBucket() {
	b.buckets = binary.LittleEndian.AppendUint32(b.buckets, uint32(len(b.directory)))
	b.buckets = binary.LittleEndian.AppendUint32(b.buckets, uint32(len(b.postings)))
}

func (b *builder) appendTerm(h *header, term lex.Term, list []Posting) {
	rest := h.restOf(term)
	for i := h.restBytes() - 1; i >= 0; i-- {
		b.directory = append(b.directory, byte(rest>>(8*i)))
	}
	if len(list) == 1 {
		b.directory = appendPostings(append(b.directory, 1), list)
		return
	}
	from := len(b.postings)
	b.postings = appendPostings(b.postings, list)
	if own := b.postings[from:]; len(own) > sameBytes {
		hash := xxhash.Sum64(own)
		before, ok := b.lists[hash]
		if ok && bytes.Equal(b.postings[before.from:before.to], own) {
			b.postings = b.postings[:from]
			b.directory = binary.BigEndian.AppendUint32(append(b.directory, 0), uint32(before.term))
			return
		}
		if !ok {
			b.lists[hash] = builtList{term, from, len(b.postings)}
		}
	}
	b.directory = binary.AppendUvarint(b.directory, uint64(len(list)))
	b.directory = binary.AppendUvarint(b.directory, uint64(len(b.postings)-from))
}

// sameBytes is how long postings may be that are written again rather than
// named by their term.
const sameBytes = 4

// builtList is where a term's postings are.
type builtList struct {
	term     lex.Term
	from, to int
}

func appendPostings(b []byte, list []Posting) []byte {
	last := uint32(0)
	for _, p := range list {
		b = binary.AppendUvarint(b, uint64(p.Seat-last)<<2|uint64(levelOf(p.Count)))
		last = p.Seat
	}
	return b
}

func levelOf(count uint8) int {
	for level := len(countLevels) - 1; level > 0; level-- {
		if count >= countLevels[level] {
			return level
		}
	}
	return 0
}

// merged are a term's postings of all sources in their new seats.
func (b *builder) merged(sources []Source, term lex.Term, dst []Posting) ([]Posting, error) {
	var err error
	for i, s := range sources {
		from := len(dst)
		if dst, err = s.Part.Postings(dst, term); err != nil {
			return dst, err
		}
		kept := dst[:from]
		for _, p := range dst[from:] {
			if p.Seat = b.seats[i][p.Seat]; p.Seat != noSeat {
				kept = append(kept, p)
			}
		}
		dst = kept
	}
	sortBySeat(dst)
	return dst, nil
}

// mergedTerms goes through the terms of all sources, ascending, each once.
func mergedTerms(sources []Source) iter.Seq2[lex.Term, error] {
	if len(sources) == 1 {
		return sources[0].Part.Terms()
	}
	return func(yield func(lex.Term, error) bool) {
		type head struct {
			term lex.Term
			err  error
			ok   bool
			next func() (lex.Term, error, bool)
		}
		heads := make([]head, len(sources))
		for i, s := range sources {
			next, stop := iter.Pull2(s.Part.Terms())
			defer stop()
			heads[i].next = next
			heads[i].term, heads[i].err, heads[i].ok = next()
		}
		for {
			lowest, any := lex.Term(0), false
			for _, h := range heads {
				if h.ok && h.err != nil {
					yield(0, h.err)
					return
				}
				if h.ok && (!any || h.term < lowest) {
					lowest, any = h.term, true
				}
			}
			if !any || !yield(lowest, nil) {
				return
			}
			for i := range heads {
				if h := &heads[i]; h.ok && h.term == lowest {
					h.term, h.err, h.ok = h.next()
				}
			}
		}
	}
}
