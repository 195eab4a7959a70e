package rank

import (
	"bytes"
	"testing"
)

// A batch gives the bytes, and as a part the answers, that a Memory of the same
// turns gives.
func TestBatchIsAMemory(t *testing.T) {
	for seed := range uint64(20) {
		r := seeded(t, seed)
		turns := someTurns(r, r.IntN(200))
		m := memoryOf(turns)
		var b Batch
		for i := range turns {
			b.Add(turns[i].turn())
		}
		part := b.Part()
		samePart(t, part, m.View())
		got, _ := encoded(t, Source{Part: part})
		want, _ := encoded(t, Source{Part: m.View()})
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes differ from %d", len(got), len(want))
		}
		again, _ := encoded(t, Source{Part: part, Drop: func(uint32) bool { return false }})
		if !bytes.Equal(again, want) {
			t.Fatalf("term by term: %d bytes differ from %d", len(again), len(want))
		}
	}
}
