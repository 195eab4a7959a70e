package replay

import "math"

// Role says who wrote a Turn.
type Role uint8

// The roles that Extract tells apart. Others are not given to it.
const (
	User      Role = iota // the user, or what stands in for one
	Assistant             // text that the model wrote, reasoning left out
	Call                  // a tool call: its input
	Result                // a tool result
)

// Turn is what Extract has to know of a turn, wherever it came from: a transcript
// or a ctxdb file.
type Turn struct {
	Role Role
	// Text is what the model saw or wrote. Of a Call it is the input: each value
	// with a newline behind it, without the names.
	Text string
	// Message ties turns of the model that it wrote in one go, when the source
	// says so. "": consecutive ones without a result or a user in between.
	Message string
	// CallID ties a Result to its Call. A result may come before its call.
	CallID string
	// Files is what a Call does to files.
	Files []Access
}

// Access is what a call does to a file.
type Access struct {
	Kind AccessKind
	Path string
	// From and To bound the lines read, from 1 and both included. To of 0: to
	// the end.
	From, To int
	// Old is what an edit replaces, as it stands in the file; each is looked for.
	Old []string
}

// AccessKind says what an Access does.
type AccessKind uint8

// The kinds of Access.
const (
	ReadFile  AccessKind = iota // brings lines into the result
	EditFile                    // replaces a part
	WriteFile                   // replaces everything
)

// lines returns the range of lines, the open end as a large number.
func (a Access) lines() (from, to int) {
	if a.Kind == WriteFile || a.To == 0 {
		return a.From, math.MaxInt
	}
	return a.From, a.To
}
