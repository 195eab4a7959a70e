package rank

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ctxdb/engine/lex"
)

func seeded(t testing.TB, n uint64) *rand.Rand {
	t.Logf("seed %d", n)
	return rand.New(rand.NewPCG(n, 1))
}

func encoded(t testing.TB, sources ...Source) ([]byte, *Reader) {
	t.Helper()
	b, err := Build(sources...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return b, p
}

// partOf makes a part of turns, in memory or encoded.
func partOf(t testing.TB, turns []naiveTurn, encode bool) Part {
	t.Helper()
	part := memoryOf(turns).View()
	if encode {
		_, part = encoded(t, Source{Part: part})
	}
	return part
}

func TestSearchIsTheDefinition(t *testing.T) {
	for seed := range uint64(30) {
		r := seeded(t, seed)
		turns := someTurns(r, 1+r.IntN(120))
		m := Default
		if seed%3 == 0 {
			m.Reach, m.Answer = int(seed)%8, 1+r.Float64()
		}
		n := naive{m, turns}
		part := memoryOf(turns).View()
		_, reader := encoded(t, Source{Part: part})
		for range 10 {
			q, named := someQuery(r)
			want := n.scores(q.Terms, q.Asks, named)
			var got [2][]Hit
			for i, p := range []Part{part, reader} {
				hits, err := m.Search([]Part{p}, q, Filter{}, len(turns))
				if err != nil {
					t.Fatal(err)
				}
				checkHits(t, hits, want, []uint32{0})
				got[i] = hits
			}
			if !slices.Equal(got[0], got[1]) {
				t.Fatal("memory and its encoding rank differently")
			}
		}
	}
}

// TestPartsAreOne spreads threads over parts: whole threads a part, so that no
// neighbours are parted.
func TestPartsAreOne(t *testing.T) {
	r := seeded(t, 1)
	var turns []naiveTurn
	var parts []Part
	var base []uint32
	for i := range 4 {
		some := someTurns(r, 60)
		for j := range some {
			some[j].thread += fmt.Sprint(" of part ", i)
		}
		base = append(base, uint32(len(turns)))
		turns = append(turns, some...)
		parts = append(parts, memoryOf(some).View())
	}
	n := naive{Default, turns}
	for range 20 {
		q, named := someQuery(r)
		hits, err := Default.Search(parts, q, Filter{}, len(turns))
		if err != nil {
			t.Fatal(err)
		}
		checkHits(t, hits, n.scores(q.Terms, q.Asks, named), base)
	}
}

func TestFewBestAreTheFirstOfAll(t *testing.T) {
	r := seeded(t, 2)
	turns := someTurns(r, 300)
	part := memoryOf(turns).View()
	for range 50 {
		q, _ := someQuery(r)
		q.Dates = []lex.Date{{Year: 2023, Month: time.November}}
		all, err := Default.Search([]Part{part}, q, Filter{}, len(turns))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{0, 1, 5, 50} {
			few, err := Default.Search([]Part{part}, q, Filter{}, k)
			if err != nil || !slices.Equal(few, all[:min(k, len(all))]) {
				t.Fatalf("k %d: %v, err %v", k, few, err)
			}
		}
	}
}

// TestFewBestOfManyParts asks for few of very many: most of the later parts' turns
// can't be among them, and are not looked at for every term.
func TestFewBestOfManyParts(t *testing.T) {
	r := seeded(t, 4)
	var parts []Part
	total := 0
	for i := range 12 {
		some := someTurns(r, 250)
		total += len(some)
		parts = append(parts, partOf(t, some, i%3 > 0))
	}
	plain := Default
	plain.Named = 1
	for i := range 120 {
		q, _ := someQuery(r)
		more, _ := someQuery(r)
		for _, x := range more.Terms {
			if !slices.ContainsFunc(q.Terms, func(y lex.QueryTerm) bool { return x.Term == y.Term }) {
				q.Terms = append(q.Terms, x)
			}
		}
		m := []Model{Default, Plain, plain}[i%3]
		f := Filter{Thread: []string{"", "thread 1"}[i/3%2]}
		all, err := m.Search(parts, q, f, total)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{1, 3, 10, 100} {
			few, err := m.Search(parts, q, f, k)
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

// TestTwoWordsAsOne: a turn that writes a pair of the question's words as one is
// found, in memory and encoded, and behind one that has both.
func TestTwoWordsAsOne(t *testing.T) {
	a, m := new(lex.Analyzer), NewMemory()
	for i, content := range []string{"the worktree is gone", "the work tree is gone", "the boat is gone"} {
		m.Add(Turn{Thread: fmt.Sprint(i), Doc: a.Turn(nil, lex.Input{Content: []byte(content)})})
	}
	_, reader := encoded(t, Source{Part: m.View()})
	q := lex.Parse("where is my work-tree?", a)
	for _, part := range []Part{m.View(), reader} {
		hits, err := Default.Search([]Part{part}, q, Filter{}, 10)
		if err != nil || len(hits) != 2 || hits[0].Ordinal != 1 || hits[1].Ordinal != 0 {
			t.Errorf("found %v, err %v", hits, err)
		}
		hits, err = Plain.Search([]Part{part}, q, Filter{}, 10)
		if err != nil || len(hits) != 1 || hits[0].Ordinal != 1 {
			t.Errorf("without it found %v, err %v", hits, err)
		}
	}
}

// A speaker's name weighs less than what is asked about: the turn of the matter
// comes before one that only calls somebody by a name that is rare.
func TestNamesWeighLess(t *testing.T) {
	turns := []naiveTurn{{thread: "t", role: "Zoe"}, {thread: "t", role: "Ben"}, {thread: "t", role: "Ben"}}
	words := [][]string{{"garden"}, {"zoe"}, {"garden"}}
	for range 40 { // among which the matter is more common than the name
		turns, words = append(turns, naiveTurn{thread: "u", role: "Ben"}), append(words, []string{"weather"})
	}
	for range 5 {
		turns, words = append(turns, naiveTurn{thread: "u", role: "Ben"}), append(words, []string{"garden", "weather"})
	}
	for i := range turns {
		turns[i].counts = map[lex.Term]int{}
		for _, w := range words[i] {
			turns[i].counts[lex.WordTerm(w)]++
		}
	}
	q := lex.Query{Names: []lex.Term{lex.WordTerm("zoe"), lex.WordTerm("garden")}}
	for _, name := range q.Names {
		q.Terms = append(q.Terms, lex.QueryTerm{Term: name, Weight: 1})
	}
	m := Default
	m.Reach, m.Named = 0, 1
	for _, bound := range []float64{0, 0.5} {
		m.NameOnly = bound
		hits, err := m.Search([]Part{memoryOf(turns).View()}, q, Filter{}, 3)
		if err != nil || len(hits) < 3 {
			t.Fatal(hits, err)
		}
		if calls := hits[0].Ordinal == 1; calls != (bound == 0) {
			t.Errorf("bound %v: turn %d comes first", bound, hits[0].Ordinal)
		}
	}
}

func TestFilters(t *testing.T) {
	r := seeded(t, 3)
	turns := someTurns(r, 200)
	part := memoryOf(turns).View()
	from, to := time.Unix(1_700_000_000+50*3600, 0), time.Unix(1_700_000_000+120*3600, 0)
	even := func(_ int, ordinal uint32) bool { return ordinal%2 == 0 }
	q := lex.Query{Terms: []lex.QueryTerm{{Term: lex.WordTerm("w0"), Weight: 1}, {Term: lex.WordTerm("w1"), Weight: 1}}}
	all, err := Default.Search([]Part{part}, q, Filter{}, len(turns))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter Filter
		admits func(*naiveTurn, uint32) bool
	}{
		"thread": {Filter{Thread: "thread 1"}, func(t *naiveTurn, _ uint32) bool { return t.thread == "thread 1" }},
		"roles":  {Filter{Roles: []string{"user", "nobody"}}, func(t *naiveTurn, _ uint32) bool { return t.role == "user" }},
		"time": {Filter{From: from, To: to}, func(t *naiveTurn, _ uint32) bool {
			return !t.time.IsZero() && !t.time.Before(from) && !t.time.After(to)
		}},
		"except": {Filter{Except: "thread 1"}, func(t *naiveTurn, _ uint32) bool { return t.thread != "thread 1" }},
		"must": {Filter{Must: []lex.Term{lex.WordTerm("w2"), lex.WordTerm("w0")}}, func(t *naiveTurn, _ uint32) bool {
			return t.counts[lex.WordTerm("w2")] > 0 && t.counts[lex.WordTerm("w0")] > 0
		}},
		"keep": {Filter{Keep: even}, func(_ *naiveTurn, o uint32) bool { return o%2 == 0 }},
	} {
		var want []uint32
		for _, h := range all {
			if c.admits(&turns[h.Ordinal], h.Ordinal) {
				want = append(want, h.Ordinal)
			}
		}
		hits, err := Default.Search([]Part{part}, q, c.filter, len(turns))
		if err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for _, h := range hits {
			got = append(got, h.Ordinal)
		}
		if name == "thread" { // another idf: the order may differ
			slices.Sort(want)
			slices.Sort(got)
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestViewsDontChange(t *testing.T) {
	r := seeded(t, 4)
	turns := someTurns(r, 200)
	m := memoryOf(turns[:100])
	before := m.View()
	q, _ := someQuery(r)
	first, err := Default.Search([]Part{before}, q, Filter{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < 200; i++ {
		m.Add(turns[i].turn())
	}
	again, err := Default.Search([]Part{before}, q, Filter{}, 100)
	if err != nil || !slices.Equal(first, again) {
		t.Fatalf("%v became %v, err %v", first, again, err)
	}
}

func TestSearchAllocates(t *testing.T) {
	r := seeded(t, 5)
	_, part := encoded(t, Source{Part: memoryOf(someTurns(r, 2000)).View()})
	q, _ := someQuery(r)
	parts := []Part{part}
	if _, err := Default.Search(parts, q, Filter{}, 10); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(50, func() {
		if _, err := Default.Search(parts, q, Filter{}, 10); err != nil {
			t.Fatal(err)
		}
	})
	if n > 60 {
		t.Errorf("%v allocations a search", n)
	}
}
