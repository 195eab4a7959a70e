package rank

import (
	"iter"
	"maps"
	"slices"
	"strings"
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
	turns    []memoryTurn
	speakers map[string]uint16
	names    []Speaker
	view     *view // of all turns; nil after Add
}

type memoryTurn struct {
	thread uint64
	length uint32
	cues   lex.Cue
	who    uint16
	time   int64
}

// NewMemory makes an empty index.
func NewMemory() *Memory {
	return &Memory{postings: make(map[lex.Term][]Posting), speakers: make(map[string]uint16)}
}

// Add indexes a turn and keeps nothing of its memory. Turns get ordinals from 0 on.
func (m *Memory) Add(t Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ordinal := uint32(len(m.turns))
	for _, tc := range t.Doc.Terms {
		m.postings[tc.Term] = append(m.postings[tc.Term], Posting{ordinal, roundCount(tc.Count)})
	}
	seconds := int64(NoTime)
	if !t.Time.IsZero() {
		seconds = t.Time.Unix()
	}
	m.turns = append(m.turns, memoryTurn{
		thread: ThreadHash(t.Thread), length: uint32(t.Doc.Length), cues: t.Doc.Cues, who: m.speaker(t.Role), time: seconds,
	})
	m.view = nil
}

// ThreadHash is how a thread is known to an index.
func ThreadHash(name string) uint64 { return xxhash.Sum64String(name) }

// maxSpeakers of one part; further ones share the last number.
const maxSpeakers = 1 << 15

func (m *Memory) speaker(name string) uint16 {
	if n, ok := m.speakers[name]; ok {
		return n
	}
	if len(m.names) == maxSpeakers {
		return maxSpeakers - 1
	}
	n := uint16(len(m.names))
	m.speakers[name] = n
	m.names = append(m.names, newSpeaker(name))
	return n
}

func newSpeaker(name string) Speaker {
	s := Speaker{Name: name, tool: toolRoles[name]}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == ' ' || r == '_' }) {
		s.Words = append(s.Words, lex.WordTerm(word))
	}
	return s
}

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
	n := len(m.turns)
	order := make([]uint32, n)
	first := make(map[uint64]uint32) // a thread's first turn: threads come in that order
	for i := range order {
		order[i] = uint32(i)
		if _, ok := first[m.turns[i].thread]; !ok {
			first[m.turns[i].thread] = uint32(i)
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		return int(first[m.turns[a].thread]) - int(first[m.turns[b].thread])
	})
	c := &Columns{
		Ordinals: order, Lengths: make([]uint32, n), Cues: make([]lex.Cue, n), Who: make([]uint16, n),
		Times: make([]int64, n), Speakers: slices.Clone(m.names),
	}
	v := &view{m: m, columns: c}
	for seat, ordinal := range order {
		t := m.turns[ordinal]
		c.Lengths[seat], c.Cues[seat], c.Who[seat], c.Times[seat] = t.length, t.cues, t.who, t.time
		if last := len(c.Runs) - 1; last >= 0 && c.Runs[last].Thread == t.thread {
			c.Runs[last].To++
		} else {
			c.Runs = append(c.Runs, Run{t.thread, uint32(seat), uint32(seat) + 1})
		}
	}
	if !slices.IsSorted(order) {
		v.seats = make([]uint32, n)
		for seat, ordinal := range order {
			v.seats[ordinal] = uint32(seat)
		}
	}
	return v
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

func (v *view) Count(t lex.Term) (int, error) { return len(v.list(t)), nil }

func (v *view) Postings(dst []Posting, t lex.Term) ([]Posting, error) {
	from := len(dst)
	dst = append(dst, v.list(t)...)
	if v.seats != nil {
		for i := from; i < len(dst); i++ {
			dst[i].Seat = v.seats[dst[i].Seat]
		}
		slices.SortFunc(dst[from:], func(a, b Posting) int { return int(a.Seat) - int(b.Seat) })
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
