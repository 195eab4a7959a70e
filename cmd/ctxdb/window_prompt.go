package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ctxdb/engine"
)

// promptFormats are the forms in which a prompt is printed alone.
var promptFormats = []string{"text", "anthropic", "openai"}

// windowPrompt is what a model would see: the prompt of the next step.
type windowPrompt struct {
	Tokens            int             `json:"tokens"` // of the text, at most the budget
	Messages          int             `json:"messages"`
	StablePrefixBytes int             `json:"stable_prefix_bytes"`
	Short             bool            `json:"short"` // all of a short session is in it
	Fetched           []windowFetched `json:"fetched"`
	Index             []string        `json:"index"` // handles of what is cold
	Notes             []string        `json:"notes"`
	System            string          `json:"system,omitempty"` // system turns, as the Messages API takes them
	Text              string          `json:"text"`

	whole *engine.Prompt
}

// windowFetched is a turn that was looked up for the question.
type windowFetched struct {
	ID    engine.TurnID `json:"id"`
	Why   string        `json:"why"`
	Score float64       `json:"score"`
	Parts []int         `json:"parts,omitempty"` // where not all of it had room
	Cold  bool          `json:"cold"`
}

// assemble makes the prompt of a window for a question, which may be empty.
func assemble(ctx context.Context, w *engine.Window, q engine.Query) (*windowPrompt, error) {
	p, err := w.Assemble(ctx, q)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, err
	}
	r := &windowPrompt{
		Tokens: p.Tokens, Messages: len(p.Messages), StablePrefixBytes: p.StablePrefixBytes, Short: p.Short,
		Fetched: []windowFetched{}, Index: []string{}, Notes: slices.Concat([]string{}, p.Notes), System: p.System(), Text: p.Text(), whole: &p,
	}
	for _, f := range p.Fetched {
		r.Fetched = append(r.Fetched, windowFetched(f))
	}
	for _, h := range p.Index {
		r.Index = append(r.Index, h.String())
	}
	return r, nil
}

// fetched reports whether a turn was looked up for the question.
func (p *windowPrompt) fetched(id engine.TurnID) bool {
	return p != nil && slices.ContainsFunc(p.Fetched, func(f windowFetched) bool { return f.ID == id })
}

// only writes the prompt alone, in one of the formats.
func (p *windowPrompt) only(format string, out, errOut io.Writer) error {
	for _, n := range p.Notes {
		fmt.Fprintln(errOut, escape(n))
	}
	if format == "text" {
		_, err := io.WriteString(out, p.Text)
		return err
	}
	messages := p.whole.Anthropic
	if format == "openai" {
		messages = p.whole.OpenAI
	}
	b, err := messages()
	if err == nil && format == "anthropic" && p.System != "" {
		fmt.Fprintln(errOut, "the system turns are no messages there but the parameter \"system\": --json has it as prompt.system")
	}
	if err == nil {
		_, err = out.Write(append(b, '\n'))
	}
	return err
}

// text prints what is in the prompt and then the prompt, control characters escaped.
func (p *windowPrompt) text(w io.Writer) {
	if p == nil {
		return
	}
	what := many(p.Messages, "message") + ", " + many(len(p.Index), "handle")
	if p.StablePrefixBytes > 0 {
		what += fmt.Sprintf("; its first %s bytes stay the same", count(p.StablePrefixBytes))
	}
	if p.Short {
		what += "; the session is short, all of it is here"
	}
	row(w, "prompt", "%s: %s", many(p.Tokens, "token"), what)
	for _, f := range p.Fetched {
		row(w, "fetched", "%s", f.words())
	}
	for _, n := range p.Notes {
		row(w, "note", "%s", escape(n))
	}
	fmt.Fprintln(w)
	for line := range strings.Lines(p.Text) {
		body, end := strings.CutSuffix(line, "\n")
		fmt.Fprint(w, escapeLine(body))
		if end {
			fmt.Fprintln(w)
		}
	}
}

// escapeLine is escape for a line of code, which may have tabs.
func escapeLine(line string) string {
	cells := strings.Split(line, "\t")
	for i := range cells {
		cells[i] = escape(cells[i])
	}
	return strings.Join(cells, "\t")
}

func (f *windowFetched) words() string {
	s := fmt.Sprintf("#%d", f.ID)
	for i, part := range f.Parts {
		s += []string{".", ",."}[min(i, 1)] + fmt.Sprint(part)
	}
	s += ", by " + f.Why
	if f.Score != 0 {
		s += fmt.Sprintf(" at %.2f", f.Score)
	}
	if f.Cold {
		s += "; it was cold"
	}
	return s
}
