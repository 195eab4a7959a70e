package workload

import (
	"encoding/binary"
	"fmt"
	"time"

	"ctxdb/engine"
)

// Seed of every workload.
const Seed = 20

// Set is a repeating sequence of turns.
type Set struct {
	Name  string
	Real  bool // taken from genuine sessions
	turns []engine.Turn
	bytes int64
}

// Len is the number of turns before the set repeats.
func (s *Set) Len() int { return len(s.turns) }

// MeanBytes is the mean size of a turn's content.
func (s *Set) MeanBytes() int { return int(s.bytes) / len(s.turns) }

// String tells what the set is made of.
func (s *Set) String() string {
	kind := "made"
	if s.Real {
		kind = "real"
	}
	return fmt.Sprintf("%s, %s: %d turns, %d bytes in the mean", s.Name, kind, s.Len(), s.MeanBytes())
}

// epoch is the time of turn 0.
var epoch = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// At returns turn i, from 0: its content, role and thread repeat, its key and
// time do not. The content is shared: it must not be changed.
func (s *Set) At(i int) engine.Turn {
	t := s.turns[i%len(s.turns)]
	t.Key, t.Time = Key(i), epoch.Add(time.Duration(i)*time.Second)
	if cycle := i / len(s.turns); cycle > 0 {
		t.Thread = fmt.Sprintf("%s-%d", t.Thread, cycle)
	}
	return t
}

// Size is the length of turn i's content.
func (s *Set) Size(i int) int { return len(s.turns[i%len(s.turns)].Content) }

// Slice returns turns from <= i < to.
func (s *Set) Slice(from, to int) []engine.Turn {
	out := make([]engine.Turn, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, s.At(i))
	}
	return out
}

// Key is the key of turn i: of the form and the randomness of a message uuid.
func Key(i int) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], mix(uint64(i)<<1))
	binary.BigEndian.PutUint64(b[8:], mix(uint64(i)<<1|1))
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014); it maps no two numbers to one.
func mix(x uint64) uint64 {
	x += Seed
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func newSet(name string, real bool, turns []engine.Turn) *Set {
	s := &Set{Name: name, Real: real, turns: turns}
	for _, t := range turns {
		s.bytes += int64(len(t.Content))
	}
	return s
}
