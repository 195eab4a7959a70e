package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"ctxdb/engine/lex"
	"ctxdb/format"
)

// distinguisher finds the terms that tell a turn from the other candidates: those
// that it says often and they seldom, and that are rare in the file. The weight is tf x idf
// over the candidates and over the file, the geometric mean of both (Spärck Jones,
// A statistical interpretation of term specificity, 1972), with the saturated tf
// of BM25; what is said first counts more. Chosen on LoCoMo and on fifty
// questions about coding sessions, where it matters little: the plain product
// without earliness loses a point or two.
type distinguisher struct {
	parts parts
	turns int // of the file's index
	lex   lex.Analyzer
	said  [][]lex.Spoken   // by candidate
	have  map[lex.Term]int // candidates that say it
	file  map[lex.Term]int // turns of the file that say it, as far as somebody asked
}

// earliness is what each term said before takes from a term's weight.
const earliness = 0.1

// asked bounds how many terms of a turn are looked up in the file's index.
const asked = 96

func (db *DB) newDistinguisher(v *view) (*distinguisher, error) {
	var h harm // a damaged index makes handles tell less, not nothing
	p, err := db.parts(v, &h)
	if err == nil && isRetired(h.err()) {
		err = h.err()
	}
	if err != nil {
		return nil, err
	}
	x := &distinguisher{parts: p, have: map[lex.Term]int{}, file: map[lex.Term]int{}}
	for _, part := range p.parts {
		c, err := part.Columns()
		if err != nil {
			return nil, err
		}
		x.turns += c.Turns()
	}
	return x, nil
}

// add makes a turn a candidate.
func (x *distinguisher) add(t *format.Turn) {
	var said []lex.Spoken
	if t.Role != RoleMeta {
		said = x.lex.Spoken(t.Content)
	}
	for _, s := range said {
		x.have[s.Term]++
	}
	x.said = append(x.said, said)
}

type weighed struct {
	lex.Spoken
	weight float64
}

// terms are those of a candidate, most telling first, as many as have room in a
// number of bytes, a space before each.
func (x *distinguisher) terms(candidate, room int, head string) ([]string, error) {
	list := make([]weighed, 0, len(x.said[candidate]))
	n := len(x.said)
	for i, s := range x.said[candidate] {
		tf := float64(s.Count) / (float64(s.Count) + 1.2)
		w := tf * math.Sqrt(idfOf(n+1, x.have[s.Term]-1)) / (1 + earliness*float64(i))
		if !tellsSomething(&s) {
			w *= 0.3
		}
		list = append(list, weighed{s, w})
	}
	order := func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) }
	slices.SortStableFunc(list, order)
	list = list[:min(len(list), asked)]
	for i := range list {
		have, err := x.inFile(list[i].Term)
		if err != nil {
			return nil, err
		}
		list[i].weight *= math.Sqrt(idfOf(x.turns, have))
	}
	slices.SortStableFunc(list, order)
	return fill(list, room, head), nil
}

// fill takes terms in their order. One that a longer one contains already tells
// nothing more.
func fill(list []weighed, room int, head string) (terms []string) {
	taken := strings.ToLower(head)
	for _, s := range list {
		low := strings.ToLower(s.Text)
		if len(low)+1 > room || strings.Contains(taken, low) {
			continue
		}
		taken += " " + low
		terms = append(terms, s.Text)
		room -= len(s.Text) + 1
	}
	return terms
}

// tellsSomething is false for numbers and single letters.
func tellsSomething(s *lex.Spoken) bool {
	letters := 0
	for _, r := range s.Text {
		if r >= 'A' {
			letters++
		}
	}
	return letters > 1 || letters == 1 && s.Text[0] >= 0x80
}

// inFile is how many turns of the file say a term.
func (x *distinguisher) inFile(t lex.Term) (int, error) {
	if n, known := x.file[t]; known {
		return n, nil
	}
	sum := 0
	for _, part := range x.parts.parts {
		n, err := part.Count(t)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	x.file[t] = sum
	return sum, nil
}

func idfOf(all, have int) float64 {
	return math.Log(1 + (float64(max(all-have, 0))+0.5)/(float64(have)+0.5))
}
