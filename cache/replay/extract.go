package replay

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// What counts as an item and as a quote.
const (
	minResultTokens = 50  // of a tool result
	minTextTokens   = 100 // of a message or a tool input
	maxQuotes       = 8   // in one step
	maxHolders      = 3   // of a string that is still distinctive
)

// Extract infers from the turns of a session which older turns each step came
// back to.
//
// A step is what the model wrote in one go, with the results of its calls; a
// user's message belongs to the step before it. An item is a tool result of 50
// tokens (characters / 4) and more, or a message or tool input of 100 and more.
// Recalls are
//
//   - reread: a read of lines that an older read or write of the same file
//     showed, or that follow on them;
//   - edit: the copy that held what an edit replaces, or the newest copy;
//   - quote: the model wrote an identifier, a path or a whole line that at most
//     three items had held and that it had not itself written in its last 4 steps;
//     at most 8 a step.
//
// Each goes to the newest holder, and is none if that is one of the last 4
// steps' items, which are in view. A new read supersedes older copies of which it
// shows everything, a write all of them (DeadReread); an edit all of them
// (DeadEdit). Ref.From and To say where in the item the quoted string, the
// replaced text or the lines are.
//
// The turns are all kept until the end. Nothing in the trace is text.
func Extract(name string, turns iter.Seq[Turn]) *Trace {
	x := &extraction{
		trace: &Trace{Name: name},
		files: make(map[string]*file), held: make(map[uint64]holder), wrote: make(map[uint64]Step),
	}
	x.step = 1
	all := arrange(turns)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].step == all[0].step {
			n++
		}
		x.one(all[:n])
		all = all[n:]
	}
	x.trace.Items = len(x.made)
	return x.trace
}

// placed is a turn in its step.
type placed struct {
	Turn
	step Step
	call *Turn // of a result
	size int64
}

// arrange puts each turn into its step: results into that of their call.
func arrange(turns iter.Seq[Turn]) []placed {
	var all []placed
	step, message, going := Step(1), "", false
	calls := make(map[string]int)
	for t := range turns {
		byModel := t.Role == Assistant || t.Role == Call
		switch {
		case byModel && t.Message != "": // it may go on behind the result of one of its calls
			if t.Message != message {
				step++
			}
			message = t.Message
		case byModel && !going:
			step++
		}
		going = byModel
		if t.Role == Call && t.CallID != "" {
			calls[t.CallID] = len(all)
		}
		all = append(all, placed{Turn: t, step: step})
	}
	for i := range all {
		if at, ok := calls[all[i].CallID]; ok && all[i].Role == Result {
			call := all[at].Turn // a copy: sorting moves the turns
			all[i].step, all[i].call = all[at].step, &call
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if a.step != b.step {
			return int(a.step - b.step)
		}
		return order[a.Role] - order[b.Role]
	})
	return joined(all)
}

// joined makes one turn of what the model said in one step.
func joined(all []placed) []placed {
	out := all[:0]
	for _, p := range all {
		if n := len(out) - 1; n >= 0 && p.Role == Assistant && out[n].Role == Assistant && out[n].step == p.step {
			out[n].Text += "\n" + p.Text
			continue
		}
		out = append(out, p)
	}
	for i := range out {
		out[i].size = tokens(out[i].Text)
	}
	return out
}

// order of turns within a step.
var order = [...]int{Assistant: 0, Call: 1, User: 2, Result: 3}

func tokens(text string) int64 { return int64(utf8.RuneCountInString(text)+3) / 4 }

func (p *placed) isItem() bool {
	if p.Role == Result {
		return p.size >= minResultTokens
	}
	return p.size >= minTextTokens
}

// access is what the turn shows of files: a result what its call read, a call what
// it wrote.
func (p *placed) access() (Access, bool) {
	switch {
	case p.Role == Call && len(p.Files) > 0:
		return p.Files[0], true
	case p.Role == Result && p.call != nil && len(p.call.Files) > 0 && p.call.Files[0].Kind == ReadFile:
		return p.call.Files[0], true
	}
	return Access{}, false
}

// itemKind is the column of that name.
func (p *placed) itemKind() string {
	a, ok := p.access()
	switch {
	case p.Role == User:
		return "user"
	case p.Role == Assistant:
		return "asst"
	case p.Role == Result && ok:
		return "read"
	case p.Role == Result:
		return "out"
	case ok && a.Kind == EditFile:
		return "edit"
	case ok && a.Kind == WriteFile:
		return "write"
	}
	return "call"
}
