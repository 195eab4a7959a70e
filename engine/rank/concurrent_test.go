package rank

import (
	"slices"
	"sync"
	"testing"
)

// TestSearchWhileAdding searches views of a Memory that grows, and one encoded
// part, from several goroutines; run it with -race.
func TestSearchWhileAdding(t *testing.T) {
	r := seeded(t, 9)
	turns := someTurns(r, 400)
	_, reader := encoded(t, Source{Part: memoryOf(turns[:100]).View()})
	m := memoryOf(turns[100:200])
	before := []Part{reader, m.View()}
	q, _ := someQuery(r)
	want, err := Default.Search(before, q, Filter{}, 200)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 20 {
				got, err := Default.Search(before, q, Filter{}, 200)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("an old view finds something else, err %v", err)
				}
				if _, err := Default.Search([]Part{reader, m.View()}, q, Filter{}, 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := 200; i < len(turns); i++ {
		m.Add(turns[i].turn())
	}
	wg.Wait()
}
