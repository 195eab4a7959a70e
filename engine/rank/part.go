package rank

import (
	"iter"

	"ctxdb/engine/lex"
)

// Posting says that the turn in a seat has a term.
type Posting struct {
	Seat  uint32
	Count uint8 // of the term in the turn, rounded: 1, 2, 4 or 8
}

// Part is a set of consecutive turns with an index: a segment, several merged
// ones, or the log's tail. It may be used by many goroutines.
//
// Inside of a part turns are numbered by seat: those of one thread sit next to
// each other in their order, so that a turn's neighbours are the seats beside it.
type Part interface {
	// Columns is what is known of every turn. It is shared, and only read.
	Columns() (*Columns, error)
	// Count is the number of turns that have the term.
	Count(t lex.Term) (int, error)
	// Postings appends the turns that have the term, ascending by seat.
	Postings(dst []Posting, t lex.Term) ([]Posting, error)
	// Terms goes through all terms, ascending. The first error ends it.
	Terms() iter.Seq2[lex.Term, error]
}

// Run is a range of seats that one thread takes.
type Run struct {
	Thread   uint64 // xxhash64 of its name
	From, To uint32 // From <= seat < To
}

// Speaker is a role, or the name of who speaks.
type Speaker struct {
	Name  string
	Words []lex.Term // of the name; not stored, made from Name
	tool  bool
}

// Columns is what a part knows of its turns, by seat.
type Columns struct {
	Runs     []Run
	Ordinals []uint32 // the turn's place in the part, from 0: id = the part's first id + ordinal
	Lengths  []uint32 // in words
	Cues     []lex.Cue
	Who      []uint16 // into Speakers
	Times    []int64  // Unix seconds in UTC; NoTime
	Speakers []Speaker

	context contextCache
}

// NoTime stands for a turn without a time.
const NoTime = -1 << 63

// Turns is the number of turns.
func (c *Columns) Turns() int { return len(c.Ordinals) }
