package rank

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"ctxdb/engine/lex"

	"github.com/cespare/xxhash/v2"
)

// Turn is what an index keeps of a turn.
type Turn struct {
	Thread string
	Role   string // or the name of who speaks
	Time   time.Time
	Doc    lex.Doc
}

// Memory indexes turns as they come: the log's tail. It may be used by many
// goroutines.
type Memory struct {
	mu       sync.RWMutex
	postings map[lex.Term][]Posting // by ordinal
	roster   roster
	view     *view // of all turns; nil after Add
}

// NewMemory makes an empty index.
func NewMemory() *Memory {
	return &Memory{postings: make(map[lex.Term][]Posting)}
}

// Add indexes a turn and keeps nothing of its memory. Turns get ordinals from 0 on.
func (m *Memory) Add(t Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ordinal := uint32(len(m.roster.turns))
	for _, tc := range t.Doc.Terms {
		m.postings[tc.Term] = append(m.postings[tc.Term], Posting{ordinal, roundCount(tc.Count)})
	}
	m.roster.add(&t)
	m.view = nil
}

// ThreadHash is how a thread is known to an index.
func ThreadHash(name string) uint64 { return xxhash.Sum64String(name) }

// countLevels are the counts that a posting can say.
var countLevels = [4]uint8{1, 2, 4, 8}

func roundCount(n int) uint8 {
	switch {
	case n <= 2:
		return uint8(max(n, 1))
	case n <= 5:
		return 4
	}
	return 8
}

// view is a Memory as it was: later turns don't change it.
type view struct {
	m       *Memory
	columns *Columns
	seats   []uint32 // by ordinal; nil where they are the same
}

// View is the part as it is now. It costs time in proportion to the turns when
// some were added since the last one.
func (m *Memory) View() Part {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.view == nil {
		m.view = m.newView()
	}
	return m.view
}

func (m *Memory) newView() *view {
	columns, seats := m.roster.columns()
	return &view{m: m, columns: columns, seats: seats}
}

func (v *view) Columns() (*Columns, error) { return v.columns, nil }

// list is the term's postings of turns that the view has.
func (v *view) list(t lex.Term) []Posting {
	v.m.mu.RLock()
	all := v.m.postings[t]
	v.m.mu.RUnlock()
	n, _ := slices.BinarySearchFunc(all, uint32(v.columns.Turns()), func(p Posting, n uint32) int { return int(p.Seat) - int(n) })
	return all[:n]
}

// sortBySeat sorts postings, which mostly are few, or runs of a few threads.
func sortBySeat(list []Posting) {
	bySeat := func(x, y Posting) int { return int(int64(x.Seat) - int64(y.Seat)) }
	if !slices.IsSortedFunc(list, bySeat) {
		slices.SortFunc(list, bySeat)
	}
}

func (v *view) Count(t lex.Term) (int, error) { return len(v.list(t)), nil }

func (v *view) Postings(dst []Posting, t lex.Term) ([]Posting, error) {
	from := len(dst)
	dst = append(dst, v.list(t)...)
	if v.seats != nil {
		for i := from; i < len(dst); i++ {
			dst[i].Seat = v.seats[dst[i].Seat]
		}
		sortBySeat(dst[from:])
	}
	return dst, nil
}

func (v *view) Terms() iter.Seq2[lex.Term, error] {
	v.m.mu.RLock()
	terms := slices.Sorted(maps.Keys(v.m.postings))
	v.m.mu.RUnlock()
	return func(yield func(lex.Term, error) bool) {
		for _, t := range terms {
			if len(v.list(t)) > 0 && !yield(t, nil) {
				return
			}
		}
	}
}
