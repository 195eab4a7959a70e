package engine

import (
	"fmt"
	"strings"
	"time"
)

// Why says why a message is in a prompt.
type Why string

// Why messages are in a prompt.
const (
	WhyPinned   Why = "pinned"   // by Pin: part of the stable prefix
	WhyRecent   Why = "recent"   // one of the newest turns, or a call that one of them answers
	WhyFetched  Why = "fetched"  // for this very question
	WhyResident Why = "resident" // by earlier references
	WhyShort    Why = "short"    // all of a short session is
)

// WholeTurn is the Part of a message that holds a whole turn.
const WholeTurn = -1

// PromptMessage is a turn, or a page of one, as it stands in a prompt.
type PromptMessage struct {
	ID      TurnID
	Part    int // WholeTurn, or the page
	Parts   int // pages of the turn
	Role    string
	Thread  string
	Time    time.Time
	Tokens  int    // of its text in Prompt.Text, head and separator included
	Content []byte // the caller's to read, shared with the window: not to be changed
	Why     Why
	ReplyTo TurnID
	Tags    []string
}

// FetchedTurn is a turn that was looked up for the question of a prompt.
type FetchedTurn struct {
	ID    TurnID
	Why   string  // "search", "selector"
	Score float64 // of the search; 0 where it did not find the turn
	Parts []int   // the pages, where not all of it had room
	Cold  bool    // it had to be read from the file
}

// Prompt is what a model is to see: see Window.Assemble. Text, Anthropic and
// OpenAI render it.
type Prompt struct {
	Messages []PromptMessage // in the order of their turns
	Index    []Handle        // of what is cold
	Tokens   int             // of Text, counted by Options.Tokenizer; at most the budget
	Fetched  []FetchedTurn   // best first
	Short    bool            // the session is short: all of it is here
	Notes    []string        // what a caller should know: fall-backs, turns cut or left out

	// StablePrefixBytes is how much of Text, from its start, does not depend on
	// the question: the pinned turns.
	StablePrefixBytes int
}

const indexTitle = "Not here, but in the file; ask for them by #number:\n"

// Text is the prompt as one text: pinned turns, then the others in their order,
// each under a line with its #number, role and time; the index last. It is what
// Tokens counts.
func (p *Prompt) Text() string {
	var b strings.Builder
	for i := range p.Messages {
		p.Messages[i].writeTo(&b)
	}
	p.writeIndex(&b)
	return b.String()
}

func (m *PromptMessage) writeTo(b *strings.Builder) {
	b.WriteString(m.name())
	b.WriteByte(' ')
	b.WriteString(m.Role)
	if !m.Time.IsZero() {
		b.WriteString(m.Time.Format(" 2006-01-02 15:04"))
	}
	b.WriteByte('\n')
	b.Write(m.Content)
	b.WriteString("\n\n")
}

// name is how the message is asked for.
func (m *PromptMessage) name() string {
	if m.Part == WholeTurn {
		return fmt.Sprintf("#%d", m.ID)
	}
	return fmt.Sprintf("#%d.%d (of parts 0-%d)", m.ID, m.Part, m.Parts-1)
}

func (m *PromptMessage) text() string {
	var b strings.Builder
	m.writeTo(&b)
	return b.String()
}

func (p *Prompt) writeIndex(b *strings.Builder) {
	if len(p.Index) == 0 {
		return
	}
	b.WriteString(indexTitle)
	for _, h := range p.Index {
		b.WriteString(h.String())
		b.WriteByte('\n')
	}
}

func (p *Prompt) indexText() string {
	var b strings.Builder
	p.writeIndex(&b)
	return b.String()
}

// note adds to Notes.
func (p *Prompt) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}
