package main

import (
	"fmt"
	"io"
	"strings"

	"ctxdb/engine"
	"ctxdb/format"
)

// turnReport is everything about one turn but its content.
type turnReport struct {
	lsRow
	SourceBytes int64         `json:"source_bytes"`
	HasSource   bool          `json:"has_source"`
	Entities    []string      `json:"entities,omitempty"`
	Embedding   int           `json:"embedding,omitempty"` // dimensions
	Model       string        `json:"embedding_model,omitempty"`
	Parts       int           `json:"parts"` // pages that it consists of
	Places      []place       `json:"places"`
	Answers     []answeredRow `json:"answers,omitempty"` // the turn it replies to, the one that one replies to ...
	More        bool          `json:"more_answers,omitempty"`

	full bool // in the text: no list is cut
}

type place struct {
	Region  string `json:"region"`
	Offset  int64  `json:"offset"`
	Stored  int64  `json:"stored_bytes"` // the whole block's
	Raw     int64  `json:"raw_bytes"`
	Codec   string `json:"codec"`
	Segment uint64 `json:"segment,omitempty"` // 0: the log
}

type answeredRow struct {
	ID    engine.TurnID `json:"id"`
	Role  string        `json:"role"`
	Words string        `json:"words"`
}

// chainShown is how far the chain of replies is followed.
const chainShown = 10

func inspectTurn(db *engine.DB, id engine.TurnID, full bool) (*turnReport, error) {
	t, err := db.Get(id)
	if err != nil {
		return nil, err
	}
	source, err := db.Source(id)
	if err != nil {
		return nil, err
	}
	where, err := db.Where(id)
	if err != nil {
		return nil, err
	}
	r := &turnReport{
		lsRow: rowOf(&t), SourceBytes: int64(len(source)), HasSource: source != nil, Entities: t.Entities,
		Embedding: len(t.Embedding), Model: t.EmbeddingModel, Parts: format.Parts(t.Content), Places: []place{}, full: full,
	}
	for _, l := range where {
		r.Places = append(r.Places, place(l))
	}
	for to := t.ReplyTo; to != 0; {
		if len(r.Answers) == chainShown {
			r.More = true
			break
		}
		a, err := db.Get(to)
		if err != nil {
			r.Answers = append(r.Answers, answeredRow{ID: to, Words: "can't be read: " + oneLine(err)})
			break
		}
		r.Answers = append(r.Answers, answeredRow{ID: to, Role: a.Role, Words: words(&a, 60)})
		to = a.ReplyTo
	}
	return r, nil
}

func (r *turnReport) text(w io.Writer) {
	row(w, "turn", "#%d", r.ID)
	for _, f := range []struct{ name, value string }{
		{"key", r.Key}, {"thread", r.Thread}, {"role", r.Role}, {"time", r.Time},
		{"tags", strings.Join(r.Tags, ", ")}, {"entities", strings.Join(r.Entities, ", ")},
	} {
		if f.value != "" {
			row(w, f.name, "%s", escape(f.value))
		}
	}
	if r.Decision {
		row(w, "decision", "yes")
	}
	row(w, "says", "%s", r.Words)
	row(w, "content", "%s, %s tokens, %s", many(r.Bytes, "byte"), count(r.Tokens), many(r.Parts, "part"))
	if r.HasSource {
		row(w, "source", "%s", many(r.SourceBytes, "byte"))
	}
	if r.Embedding > 0 {
		by := ""
		if r.Model != "" {
			by = " by " + quoteName(r.Model)
		}
		row(w, "embedding", "%s%s", many(r.Embedding, "dimension"), by)
	}
	for i, p := range r.Places {
		if i == rowsShown && !r.full {
			row(w, "", "... and %s more; --full lists them", many(len(r.Places)-i, "block"))
			break
		}
		in := "the log"
		if p.Segment != 0 {
			in = fmt.Sprintf("segment %d", p.Segment)
		}
		row(w, "lies", "in %s: %s at offset %d, %s (%s plain), codec %s", in, p.Region, p.Offset, many(p.Stored, "byte"), count(p.Raw), p.Codec)
	}
	for _, a := range r.Answers {
		row(w, "answers", "#%d %s: %s", a.ID, quoteName(a.Role), a.Words)
	}
	if r.More {
		row(w, "", "... and so on")
	}
}
