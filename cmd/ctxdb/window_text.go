package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"ctxdb/cache"
	"ctxdb/engine"
)

// windowReport says what a window holds.
type windowReport struct {
	File         string       `json:"file"`
	Name         string       `json:"name,omitempty"`
	Policy       cache.Policy `json:"policy"`
	BudgetTokens int          `json:"budget_tokens,omitempty"`
	BudgetBytes  int64        `json:"budget_bytes,omitempty"`
	PageTokens   int          `json:"page_tokens"` // negative: whole turns
	LowWatermark float64      `json:"low_watermark"`
	KeepRecent   int          `json:"keep_recent"`
	References   uint64       `json:"references_ever,omitempty"` // of a window that is remembered
	Did          *windowDid   `json:"did,omitempty"`
	Turns        int          `json:"turns"` // resident
	Pages        int          `json:"pages"`
	Tokens       int64        `json:"tokens"`
	Bytes        int64        `json:"bytes"`
	PinnedTokens int64        `json:"pinned_tokens"`
	TooLarge     int          `json:"too_large"`  // turns that alone are above the budget
	Unreadable   int          `json:"unreadable"` // turns
	EvictedPages int          `json:"evicted_pages"`
	Residents    []windowRow  `json:"residents"`
	Evicted      []windowRow  `json:"evicted"` // and cold now, the latest first

	Prompt *windowPrompt `json:"prompt,omitempty"`

	columns int
}

// windowDid is what a window did with references.
type windowDid struct {
	Refs            int64  `json:"references"`
	Hits            int64  `json:"hits"`
	Faults          int64  `json:"faults"`
	FaultTokens     int64  `json:"fault_tokens"`
	Evictions       int64  `json:"evictions"`
	Batches         int64  `json:"batches"`
	OldCopies       int64  `json:"old_copies_evicted"`
	PeakTokens      int64  `json:"peak_tokens"`
	PeakBytes       int64  `json:"peak_bytes"`
	Thrashing       bool   `json:"thrashing"`
	SuggestedTokens int    `json:"suggested_budget_tokens,omitempty"`
	SuggestedBytes  int64  `json:"suggested_budget_bytes,omitempty"`
	PagingPays      bool   `json:"paging_pays"`
	Reason          string `json:"reason"`
}

// windowRow is a turn that is resident, or of which pages were evicted.
type windowRow struct {
	ID     engine.TurnID `json:"id"`
	Parts  []int         `json:"parts,omitempty"` // those meant, where it is not all of the turn
	Of     int           `json:"of_parts"`
	Role   string        `json:"role"`
	Tokens int           `json:"tokens"` // of the parts
	Why    string        `json:"why,omitempty"`
	Words  string        `json:"words"`
	Handle string        `json:"handle,omitempty"` // of one that was evicted: the line that stands for it
}

func didOf(s *engine.WindowStats) *windowDid {
	return &windowDid{
		Refs: s.Refs, Hits: s.Hits, Faults: s.Faults, FaultTokens: s.FaultTokens, Evictions: s.Evictions, Batches: s.Batches,
		OldCopies: s.DoomedEvicted, PeakTokens: s.PeakTokens, PeakBytes: s.PeakBytes, Thrashing: s.Thrashing,
		SuggestedTokens: s.SuggestedBudgetTokens, SuggestedBytes: s.SuggestedBudgetBytes, PagingPays: s.PagingPays,
	}
}

func (r *windowReport) options(w *engine.Window, hasBudget bool) {
	o := w.Options()
	r.Policy, r.PageTokens, r.LowWatermark, r.KeepRecent = o.Policy, o.PageTokens, o.LowWatermark, max(o.KeepRecent, 0)
	if hasBudget {
		r.BudgetTokens, r.BudgetBytes = o.BudgetTokens, o.BudgetBytes
	}
}

// contents lists who is resident and who left.
func (r *windowReport) contents(ctx context.Context, db *engine.DB, w *engine.Window) error {
	s := w.Stats()
	r.Turns, r.Pages, r.Tokens, r.Bytes, r.PinnedTokens = s.Turns, s.Pages, s.Tokens, s.Bytes, s.PinnedTokens
	at := map[engine.TurnID]int{}
	for _, p := range w.Pages() {
		i, ok := at[p.ID]
		if !ok {
			i, at[p.ID] = len(r.Residents), len(r.Residents)
			row, err := rowOfTurn(db, p.ID)
			if err != nil {
				return err
			}
			row.Of, row.Why = p.Parts, why(&p)
			r.Residents = append(r.Residents, row)
		}
		row := &r.Residents[i]
		row.Parts = append(row.Parts, p.Part)
		row.Tokens += p.Tokens
	}
	for i := range r.Residents {
		row := &r.Residents[i]
		if len(row.Parts) == row.Of {
			row.Parts = nil
		}
		if r.Prompt.fetched(row.ID) {
			row.Why = "fetched"
		}
	}
	return r.departures(ctx, db, w)
}

// departures lists who left and is cold, with the handles by which a model can ask for it.
func (r *windowReport) departures(ctx context.Context, db *engine.DB, w *engine.Window) error {
	at := map[engine.TurnID]int{}
	var ids []engine.TurnID
	for _, d := range w.Evicted(0) {
		r.EvictedPages++
		i, ok := at[d.ID]
		if !ok {
			row, err := rowOfTurn(db, d.ID)
			if errors.Is(err, engine.ErrForgotten) || errors.Is(err, engine.ErrCorrupt) {
				continue
			}
			parts, lerr := w.Layout(d.ID)
			if err = errors.Join(err, lerr); err != nil {
				return err
			}
			i, at[d.ID] = len(r.Evicted), len(r.Evicted)
			row.Of = len(parts)
			r.Evicted, ids = append(r.Evicted, row), append(ids, d.ID)
		}
		row := &r.Evicted[i]
		row.Tokens += d.Tokens
		row.Parts = append(row.Parts, d.Part)
	}
	handles, err := db.Handles(ctx, ids)
	if err != nil && ctx.Err() == nil && len(ids) > 0 {
		return err
	}
	here := r.partsHere()
	for _, h := range handles {
		row := &r.Evicted[at[h.ID]]
		h.Parts, h.Here = row.Of, here[h.ID]
		row.Handle = h.String()
	}
	for i := range r.Evicted {
		if row := &r.Evicted[i]; len(row.Parts) == row.Of {
			row.Parts = nil
		} else {
			slices.Sort(row.Parts)
		}
	}
	return nil
}

// partsHere are the parts of turns that are resident in part.
func (r *windowReport) partsHere() map[engine.TurnID][]int {
	here := map[engine.TurnID][]int{}
	for _, row := range r.Residents {
		if row.Parts != nil {
			here[row.ID] = row.Parts
		}
	}
	return here
}

func rowOfTurn(db *engine.DB, id engine.TurnID) (windowRow, error) {
	t, err := db.Get(id)
	return windowRow{ID: id, Role: t.Role, Words: words(&t, jsonWords)}, err
}

// why says why a page is resident.
func why(p *engine.ResidentPage) string {
	switch {
	case p.Pinned:
		return "pinned"
	case p.FaultPin:
		return "held"
	case p.Recent:
		return "new"
	case p.Class == cache.Guarded:
		return "call"
	case p.OldCopy:
		return "old copy"
	}
	return "policy"
}

func (r *windowReport) text(w io.Writer) {
	pages := "whole turns"
	if r.PageTokens > 0 {
		pages = "pages of " + count(r.PageTokens)
	}
	mark, recent := "one at a time", ""
	if r.LowWatermark < 1 {
		mark = fmt.Sprintf("down to %.4g %%", 100*r.LowWatermark)
	}
	if r.KeepRecent > 0 {
		recent = ", the newest " + count(r.KeepRecent) + " last"
	}
	row(w, "budget", "%s; %s, %s, %s%s", r.budget(), r.Policy, pages, mark, recent)
	if r.References > 0 {
		row(w, "remembered", "%q, after %s", r.Name, many(r.References, "reference"))
	}
	r.Did.text(w)
	if r.TooLarge > 0 {
		row(w, "too large", "%s above the budget, never resident", many(r.TooLarge, "turn"))
	}
	pinned := ""
	if r.PinnedTokens > 0 {
		pinned = fmt.Sprintf(", %s of them pinned", count(r.PinnedTokens))
	}
	row(w, "resident", "%s, %s%s, %s", many(r.Turns, "turn"), many(r.Tokens, "token"), pinned, many(r.Bytes, "byte"))
	for _, t := range r.Residents {
		t.text(w, r.columns)
	}
	r.departed(w)
	r.Prompt.text(w)
}

// departed prints the handles of what left, and which parts of it did where that is not all.
func (r *windowReport) departed(w io.Writer) {
	if len(r.Evicted) == 0 {
		return
	}
	row(w, "evicted", "%s of %s and cold now, the latest first, by their handles", many(r.EvictedPages, "page"), many(len(r.Evicted), "turn"))
	for i, t := range r.Evicted {
		if i == listShown {
			fmt.Fprintf(w, "  ... and %s more; --json names them\n", count(len(r.Evicted)-i))
			break
		}
		part := ""
		if len(t.Parts) > 0 {
			part = fmt.Sprintf("[%s of %d] ", partNames(&t), t.Of)
		}
		fmt.Fprintln(w, cut("     "+part+escape(t.Handle), max(r.columns, engine.HandleBytes+len(part)+5)))
	}
}

func (r *windowReport) budget() string {
	var both []string
	if r.BudgetTokens > 0 {
		both = append(both, many(r.BudgetTokens, "token"))
	}
	if r.BudgetBytes > 0 {
		both = append(both, count(r.BudgetBytes)+" bytes")
	}
	if len(both) == 0 {
		return "none, as it was left"
	}
	return strings.Join(both, " and ")
}

func (d *windowDid) text(w io.Writer) {
	if d == nil {
		return
	}
	row(w, "references", "%s: %s, %s of %s, %s in %s", count(d.Refs), many(d.Hits, "hit"), many(d.Faults, "fault"), many(d.FaultTokens, "token"),
		many(d.Evictions, "eviction"), batches(d.Batches))
	row(w, "peak", "%s, %s", many(d.PeakTokens, "token"), many(d.PeakBytes, "byte"))
	row(w, "verdict", "%s", d.Reason)
	if d.SuggestedTokens > 0 {
		row(w, "suggested", "a budget of %s tokens would end it", count(d.SuggestedTokens))
	}
	if d.SuggestedBytes > 0 {
		row(w, "suggested", "a budget of %s bytes would end it", count(d.SuggestedBytes))
	}
}

func batches(n int64) string {
	if n == 1 {
		return "1 batch"
	}
	return count(n) + " batches"
}

// text is a row: id, role, tokens, why, words; of a part, which.
func (t *windowRow) text(w io.Writer, columns int) {
	part := ""
	if len(t.Parts) > 0 {
		part = fmt.Sprintf("[%s of %d] ", partNames(t), t.Of)
	}
	fmt.Fprintln(w, strings.TrimRight(cut(fmt.Sprintf("%7s %-11s %7s %-8s  %s%s", fmt.Sprintf("#%d", t.ID), quoteName(t.Role), count(t.Tokens), t.Why, part, t.Words), columns), " "))
}

// partNames are .0 .3, as in #42.3.
func partNames(t *windowRow) string {
	names := make([]string, len(t.Parts))
	for i, p := range t.Parts {
		names[i] = "." + strconv.Itoa(p)
	}
	return strings.Join(names, " ")
}
