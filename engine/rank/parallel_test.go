package rank

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"ctxdb/engine/lex"
)

// processors sets how many goroutines a search may use, until the test ends.
func processors(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// manyParts are enough parts for several goroutines.
func manyParts(t testing.TB, seed uint64, n int) (parts []Part) {
	r := seeded(t, seed)
	for i := range n {
		part := memoryOf(someTurns(r, 20+r.IntN(60))).View()
		if i%9 > 0 {
			_, reader := encoded(t, Source{Part: part})
			part = reader
		}
		parts = append(parts, part)
	}
	return parts
}

// Several goroutines find what one finds, to the last bit of each score.
func TestSeveralFindWhatOneFinds(t *testing.T) {
	parts := manyParts(t, 21, 6*partsEach)
	r := seeded(t, 22)
	for i := range 100 {
		q, _ := someQuery(r)
		f := Filter{Thread: []string{"", "", "thread 1"}[i%3], Except: "thread 2"}
		k := []int{1, 10, 100}[i%3]
		var got [2][]Hit
		for j, n := range []int{1, 4} {
			processors(t, n)
			hits, err := Default.Search(parts, q, f, k)
			if err != nil {
				t.Fatal(err)
			}
			got[j] = hits
		}
		if len(got[0]) == 0 || !slices.Equal(got[0], got[1]) {
			t.Fatalf("question %d: one finds %v, four %v", i, got[0], got[1])
		}
	}
}

// Several searches of several goroutines each don't disturb each other.
func TestManySearchesOfSeveral(t *testing.T) {
	processors(t, 4)
	parts := manyParts(t, 23, 4*partsEach)
	var wait sync.WaitGroup
	for g := range 4 {
		r := seeded(t, uint64(30+g))
		wait.Go(func() {
			for range 15 {
				q, _ := someQuery(r)
				few, err := Default.Search(parts, q, Filter{}, 5)
				if err != nil {
					t.Error(err)
				}
				more, err := Default.Search(parts, q, Filter{}, 10)
				if err != nil || !slices.Equal(few, more[:min(5, len(more))]) {
					t.Errorf("5: %v, 10: %v, %v", few, more, err)
				}
			}
		})
	}
	wait.Wait()
}

// Of several parts that can't be read the first is named, and the searches after
// it are as good as any.
func TestSeveralNameTheFirstThatFails(t *testing.T) {
	processors(t, 4)
	parts := manyParts(t, 24, 5*partsEach)
	q := lex.Query{Terms: []lex.QueryTerm{{Term: lex.WordTerm("w0"), Weight: 1}}}
	want, err := Default.Search(parts, q, Filter{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	r := seeded(t, 25)
	for range 50 {
		broken, first := slices.Clone(parts), len(parts)
		for range 3 {
			i := r.IntN(len(parts))
			b, err := Build(Source{Part: parts[i]})
			if err != nil {
				t.Fatal(err)
			}
			f := &failing{bytes.NewReader(b), 3} // the first read behind the head
			if broken[i], err = Open(f, int64(len(b))); err != nil {
				t.Fatal(err)
			}
			first = min(first, i)
		}
		_, err := Default.Search(broken, q, Filter{}, 10)
		var bad *PartError
		if !errors.As(err, &bad) || bad.Part != first || !errors.Is(err, errDisk) {
			t.Fatalf("%v, want part %d", err, first)
		}
		if got, err := Default.Search(parts, q, Filter{}, 10); err != nil || !slices.Equal(got, want) {
			t.Fatalf("a search after a failed one: %v, want %v, %v", got, want, err)
		}
	}
}

// BenchmarkParts searches many parts by one goroutine and by as many as there are
// processors.
func BenchmarkParts(b *testing.B) {
	all := runtime.GOMAXPROCS(0)
	r := seeded(b, 26)
	var parts []Part
	for range 200 {
		_, p := encoded(b, Source{Part: memoryOf(someTurns(r, 1000)).View()})
		parts = append(parts, p)
	}
	var questions []lex.Query
	for range 50 {
		q, _ := someQuery(r)
		questions = append(questions, q)
	}
	for _, n := range []int{1, all} {
		b.Run(fmt.Sprint("goroutines=", n), func(b *testing.B) {
			processors(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := Default.Search(parts, questions[i%len(questions)], Filter{}, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
