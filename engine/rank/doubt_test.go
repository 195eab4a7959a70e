package rank

import (
	"bytes"
	"slices"
	"testing"

	"ctxdb/engine/lex"
)

// moody gives bytes that make no sense until it is doubted.
type moody struct {
	good         *bytes.Reader
	from, to     int64 // these are spoiled
	doubted, bad bool
}

func (m *moody) ReadAt(b []byte, at int64) (int, error) {
	n, err := m.good.ReadAt(b, at)
	for i := range b[:n] {
		if x := at + int64(i); m.bad && x >= m.from && x < m.to {
			b[i] = 0xFF
		}
	}
	return n, err
}

func (m *moody) Doubt() { m.doubted, m.bad = true, false }

// Bytes that are no part's are read once more, by who may verify them then.
func TestNonsenseIsReadTwice(t *testing.T) {
	r := seeded(t, 9)
	good, p := encoded(t, Source{Part: memoryOf(someTurns(r, 200)).View()})
	q := lex.Query{Terms: []lex.QueryTerm{{Term: lex.WordTerm("w0"), Weight: 1}, {Term: lex.WordTerm("w1"), Weight: 1}}}
	want, err := Default.Search([]Part{p}, q, Filter{}, 10)
	if err != nil || len(want) != 10 {
		t.Fatal(len(want), err)
	}
	for name, m := range map[string]*moody{
		"directory": {good: bytes.NewReader(good), from: p.h.directoryAt(), to: p.h.postingsAt()},
		"postings":  {good: bytes.NewReader(good), from: p.h.postingsAt(), to: int64(len(good))},
	} {
		part, err := Open(m, int64(len(good)))
		if err != nil {
			t.Fatal(err)
		}
		m.bad = true
		got, err := Default.Search([]Part{part}, q, Filter{}, 10)
		if err != nil || !m.doubted || !slices.Equal(got, want) {
			t.Errorf("%s: doubted %t, %v, want %v, %v", name, m.doubted, got, want, err)
		}
	}
}
