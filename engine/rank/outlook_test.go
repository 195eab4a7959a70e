package rank

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"ctxdb/engine/lex"
)

// counting counts the reads of a part's postings.
type counting struct {
	*bytes.Reader
	from, reads int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	if at >= c.from {
		c.reads++
	}
	return c.Reader.ReadAt(b, at)
}

// TestHopelessPartsAreNotLookedAt: the one part that has all words of a question
// comes last. Once its turns are known, nothing is read of those that have but
// the common word.
func TestHopelessPartsAreNotLookedAt(t *testing.T) {
	common, rare, other := lex.WordTerm("common"), lex.WordTerm("rare"), lex.WordTerm("other")
	var parts []Part
	var counts []*counting
	for i := range 20 {
		turns := make([]naiveTurn, 40)
		for j := range turns {
			counts := map[lex.Term]int{lex.WordTerm(fmt.Sprint("w", j)): 1}
			if j%2 == 0 {
				counts[common] = 1
			}
			if i == 19 && j < 2 {
				counts[rare], counts[other] = 8, 8
			}
			turns[j] = naiveTurn{thread: "t", role: "user", length: 10, counts: counts}
		}
		b, err := Build(Source{Part: memoryOf(turns).View()})
		if err != nil {
			t.Fatal(err)
		}
		c := &counting{bytes.NewReader(b), math.MaxInt64, 0}
		p, err := Open(c, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		c.from = p.h.postingsAt()
		parts, counts = append(parts, p), append(counts, c)
	}
	q := lex.Query{Terms: []lex.QueryTerm{{Term: common, Weight: 1}, {Term: rare, Weight: 1}, {Term: other, Weight: 1}}}
	hits, err := Default.Search(parts, q, Filter{}, 2)
	if err != nil || len(hits) != 2 || hits[0].Part != 19 || hits[1].Part != 19 {
		t.Fatalf("%v, %v", hits, err)
	}
	for i, c := range counts {
		if (c.reads > 0) != (i == 19) {
			t.Errorf("part %d: %d reads of postings", i, c.reads)
		}
	}
}

// TestUnlikePartsAreOne: parts about different things, most of which are not
// looked at, and the best are those of a search that keeps all.
func TestUnlikePartsAreOne(t *testing.T) {
	r := seeded(t, 6)
	var parts []Part
	total := 0
	for i := range 30 {
		turns := someTurns(r, 60)
		for j := range turns {
			said := map[lex.Term]int{}
			for range 1 + r.IntN(6) {
				said[lex.WordTerm(fmt.Sprint("w", int(8*math.Pow(r.Float64(), 3))+5*r.IntN(i+1)))]++
			}
			turns[j].counts = said
		}
		total += len(turns)
		parts = append(parts, partOf(t, turns, i%5 > 0))
	}
	for i := range 200 {
		q := lex.Query{}
		for range 1 + r.IntN(8) {
			x := lex.QueryTerm{Term: lex.WordTerm(fmt.Sprint("w", r.IntN(150))), Weight: 0.5 + r.Float64()}
			if !slices.ContainsFunc(q.Terms, func(y lex.QueryTerm) bool { return x.Term == y.Term }) {
				q.Terms = append(q.Terms, x)
			}
		}
		f := Filter{Except: []string{"", "thread 2"}[i%2]}
		if i%7 == 0 {
			f.Must = []lex.Term{q.Terms[0].Term}
		}
		all, err := Default.Search(parts, q, f, total)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{1, 10} {
			few, err := Default.Search(parts, q, f, k)
			if err != nil || len(few) != min(k, len(all)) {
				t.Fatalf("k %d: %d hits of %d, err %v", k, len(few), len(all), err)
			}
			for j, h := range few {
				if x := all[j].Score; math.Abs(h.Score-x) > 1e-5*x {
					t.Fatalf("question %d, k %d: hit %d scores %v, want %v", i, k, j, h.Score, x)
				}
			}
		}
	}
}
