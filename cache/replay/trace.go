package replay

import (
	"fmt"
	"slices"
)

// Item numbers what can be referred to, densely from 0 in the order of first
// appearance in its trace.
type Item uint32

// Step numbers the moments of a trace; all references of one step happen in one
// request to the model.
type Step int64

// Kind says what a reference is. The names are those of the column "kind".
type Kind uint8

const (
	// Plain is a reference of a plain trace.
	Plain Kind = iota
	// New makes the item: it enters the window, which is no fault.
	New
	// Tail says that the item is one of the most recent turns, always in view.
	// It is never counted as a fault.
	Tail
	// Reread, Edit and Quote are recalls: a later turn read the same file
	// again, edited what it had read, or quoted a distinctive string.
	Reread
	Edit
	Quote
	// DeadReread and DeadEdit are no references: a new read or an overwrite, or
	// an edit, has superseded this copy.
	DeadReread
	DeadEdit
)

var kindNames = [...]string{"ref", "new", "tail", "reread", "edit", "quote", "dead_reread", "dead_edit"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, bool) {
	k := slices.Index(kindNames[:], name)
	return Kind(max(k, 0)), k >= 0
}

// IsRecall reports whether a fault is possible and counted.
func (k Kind) IsRecall() bool { return k == Plain || k == Reread || k == Edit || k == Quote }

// Ref is one line of a trace.
type Ref struct {
	Step Step
	Item Item
	Size int64 // of the whole item, in the unit of the budgets (tokens, or bytes); in a session always the same for one item
	Kind Kind

	Group    uint64 // session traces: ties items of one path; 0: none
	ItemKind string // session traces: out, read, call, edit, write, asst, user
	Parent   Item   // session traces: the older copy that this item supersedes, or itself

	// From and To bound what the reference needs of the item, in units of Size:
	// From <= x < To. To of 0: not known.
	From, To int64
}

// Trace is a sequence of references.
type Trace struct {
	Name  string
	Refs  []Ref // in order; steps do not fall
	Items int   // Item is below it
	// invariant: IsPlain: all kinds are Plain; otherwise none is.
	IsPlain bool
}

// Sizes returns the size of each item at its last reference, and their sum.
func (t *Trace) Sizes() (sizes []int64, total int64) {
	sizes = make([]int64, t.Items)
	for i := range t.Refs {
		sizes[t.Refs[i].Item] = t.Refs[i].Size
	}
	for _, size := range sizes {
		total += size
	}
	return sizes, total
}

// Count returns the number of references of each kind.
func (t *Trace) Count() map[Kind]int {
	n := make(map[Kind]int)
	for i := range t.Refs {
		n[t.Refs[i].Kind]++
	}
	return n
}

// steps cuts the references into steps.
func (t *Trace) steps(yield func([]Ref) bool) {
	for rest := t.Refs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Step == rest[0].Step {
			n++
		}
		if !yield(rest[:n]) {
			return
		}
		rest = rest[n:]
	}
}
