package rank

import (
	"slices"
	"strings"

	"ctxdb/engine/lex"
)

// roster is what is known of turns beside their terms, as they come.
type roster struct {
	turns    []memoryTurn
	speakers map[string]uint16
	names    []Speaker
}

type memoryTurn struct {
	thread uint64
	length uint32
	cues   lex.Cue
	who    uint16
	time   int64
}

func (r *roster) add(t *Turn) {
	seconds := int64(NoTime)
	if !t.Time.IsZero() {
		seconds = t.Time.Unix()
	}
	r.turns = append(r.turns, memoryTurn{
		thread: ThreadHash(t.Thread), length: uint32(t.Doc.Length), cues: t.Doc.Cues, who: r.speaker(t.Role), time: seconds,
	})
}

// maxSpeakers of one part; further ones share the last number.
const maxSpeakers = 1 << 15

func (r *roster) speaker(name string) uint16 {
	if n, ok := r.speakers[name]; ok {
		return n
	}
	if len(r.names) == maxSpeakers {
		return maxSpeakers - 1
	}
	if r.speakers == nil {
		r.speakers = make(map[string]uint16)
	}
	n := uint16(len(r.names))
	r.speakers[name] = n
	r.names = append(r.names, newSpeaker(name))
	return n
}

func newSpeaker(name string) Speaker {
	s := Speaker{Name: name, tool: toolRoles[name]}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == ' ' || r == '_' }) {
		s.Words = append(s.Words, lex.WordTerm(word))
	}
	return s
}

// columns seats the turns: those of a thread next to each other, threads in the
// order of their first turns. seats are by ordinal, nil where they are the same.
func (r *roster) columns() (c *Columns, seats []uint32) {
	n := len(r.turns)
	order := make([]uint32, n)
	places := make([]int, n)     // of a turn's thread among the threads
	seen := make(map[uint64]int) // places by thread
	for i := range order {
		order[i] = uint32(i)
		if i > 0 && r.turns[i].thread == r.turns[i-1].thread {
			places[i] = places[i-1]
			continue
		}
		place, ok := seen[r.turns[i].thread]
		if !ok {
			place = len(seen)
			seen[r.turns[i].thread] = place
		}
		places[i] = place
	}
	if !slices.IsSorted(places) {
		slices.SortStableFunc(order, func(a, b uint32) int { return places[a] - places[b] })
		seats = make([]uint32, n)
		for seat, ordinal := range order {
			seats[ordinal] = uint32(seat)
		}
	}
	c = &Columns{
		Ordinals: order, Lengths: make([]uint32, n), Cues: make([]lex.Cue, n), Who: make([]uint16, n),
		Times: make([]int64, n), Speakers: slices.Clone(r.names),
	}
	for seat, ordinal := range order {
		t := &r.turns[ordinal]
		c.Lengths[seat], c.Cues[seat], c.Who[seat], c.Times[seat] = t.length, t.cues, t.who, t.time
		c.Runs = sit(c.Runs, t.thread, uint32(seat))
	}
	return c, seats
}

// sit adds the next seat to the run of its thread.
func sit(runs []Run, thread uint64, seat uint32) []Run {
	if last := len(runs) - 1; last >= 0 && runs[last].Thread == thread {
		runs[last].To++
		return runs
	}
	return append(runs, Run{thread, seat, seat + 1})
}
