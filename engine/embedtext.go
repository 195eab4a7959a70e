package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"ctxdb/engine/vec"
	"ctxdb/format"
)

// embeddable is what a model sees of a turn, the beginning of its summary and
// content; "": nothing.
func embeddable(t *format.Turn, limit int) string {
	if t.Role == RoleMeta {
		return ""
	}
	content := t.Content[:min(len(t.Content), limit+utf8.UTFMax)]
	return clipText(t.Summary+"\n"+string(content), limit)
}

// clipText cuts a text to a number of bytes at a character, and makes it valid
// UTF-8 without white space around it.
func clipText(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	return strings.TrimSpace(strings.ToValidUTF8(s, "\ufffd"))
}

// make has the vectors of texts made. Where the model refuses some, halves are
// tried until those to blame are alone; they are shortened, and left out in the
// end. Where it refuses many in a row, and what it has taken or should take as
// well, that is an error: the fault is not the texts'.
func (p *embedRun) make(texts []text) error {
	if len(texts) == 0 {
		return nil
	}
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = clipText(t.text, p.limit)
	}
	vectors, err := vectorsOf(p.ctx, p.db.opts.Embedder, longWait, list)
	switch n := len(texts); {
	case err == nil:
		p.inARow = 0
		return p.keep(texts, vectors)
	case !errors.Is(err, ErrRefused):
		return err
	case n > 1:
		if err := p.make(texts[:n/2]); err != nil {
			return err
		}
		return p.make(texts[n/2:])
	case len(list[0]) > leastText:
		return p.shorten(texts[0])
	}
	return p.refuse(texts[0], err)
}

// shorten tries half of a text, and again. What the model takes then is the
// limit for all that follow.
func (p *embedRun) shorten(t text) error {
	s := clipText(t.text, p.limit)
	for len(s) > leastText {
		s = clipText(s, max(len(s)/2, leastText))
		vectors, err := vectorsOf(p.ctx, p.db.opts.Embedder, longWait, []string{s})
		if err == nil {
			p.limit, p.inARow = max(len(s), leastText), 0
			return p.keep([]text{t}, vectors)
		}
		if !errors.Is(err, ErrRefused) {
			return err
		}
		p.refusal = err
	}
	return p.refuse(t, p.refusal)
}

// refuse leaves a turn without a vector.
func (p *embedRun) refuse(t text, cause error) error {
	p.inARow++
	p.r.Refused = append(p.r.Refused, TurnID(t.id))
	if p.inARow < mostRefused && (p.r.Made > 0 || p.dims > 0 || t.id+1 < p.end) {
		return nil
	}
	probe := cmp.Or(p.taken, harmlessText)
	if _, err := vectorsOf(p.ctx, p.db.opts.Embedder, longWait, []string{probe}); err != nil {
		return fmt.Errorf("%d texts in a row, and then one that is well: %w", p.inARow, cause)
	}
	p.inARow, p.next = 0, t.id+1
	return nil
}

// harmlessText is one that no model has a reason to refuse.
const harmlessText = "a plain text"

// keep takes the vectors of texts over.
func (p *embedRun) keep(texts []text, vectors [][]float32) error {
	dims := len(vectors[0])
	if p.dims != 0 && dims != p.dims {
		return fmt.Errorf("%w: vectors of %d dimensions; those that the file has of model %q have %d", errAnswer, dims, p.r.Model, p.dims)
	}
	p.dims, p.r.Dims = dims, dims
	for i, v := range vectors {
		p.waiting = append(p.waiting, vec.Vector{Ordinal: uint32(texts[i].id - p.from), Model: p.r.Model, Values: v})
		p.bytes += dims
	}
	p.r.Made += uint64(len(vectors))
	p.next = texts[len(texts)-1].id + 1 // texts come in order, and what was refused before was the texts' fault
	p.taken = clipText(texts[0].text, leastText)
	return nil
}
