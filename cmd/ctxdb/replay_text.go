package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"ctxdb/cache/replay"
)

// replayReport is what a replay found. Sizes are in tokens, or in the unit of the trace.
type replayReport struct {
	Source   string        `json:"source"`
	Items    int           `json:"items"`
	Tokens   int64         `json:"tokens"`     // of all items together
	Refs     int64         `json:"references"` // everything but marks of superseded copies
	Recalls  int64         `json:"recalls"`    // references that could fault
	Recorded *recorded     `json:"recorded,omitempty"`
	Prices   prices        `json:"prices"`
	Groups   []replayGroup `json:"groups"`

	path string // that was read
}

// replayGroup is everything at one budget and page size.
type replayGroup struct {
	BudgetTokens int64       `json:"budget_tokens"`
	PageTokens   int64       `json:"page_tokens"` // 0: whole turns
	Rows         []replayRow `json:"rows"`
}

// replayRow is a policy, or one of the two offline bounds.
type replayRow struct {
	Policy          string  `json:"policy"`
	LowWatermark    float64 `json:"low_watermark,omitempty"` // 0: plays no part
	Faults          float64 `json:"faults"`                  // a whole number but for the bound
	FaultRate       float64 `json:"fault_rate"`              // of the recalls
	FaultTokens     float64 `json:"fault_tokens"`
	ObjectMissRatio float64 `json:"object_miss_ratio"`
	ByteMissRatio   float64 `json:"byte_miss_ratio"`
	Cold            int64   `json:"cold,omitempty"` // faults that are first references
	Evictions       int64   `json:"evictions,omitempty"`
	Batches         int64   `json:"batches,omitempty"`
	PeakTokens      int64   `json:"peak_tokens,omitempty"`
	Money           *money  `json:"money,omitempty"`
	OfKeepAll       float64 `json:"of_keep_all,omitempty"`
}

// prices are those of package replay.
type prices struct {
	Read    float64 `json:"read"`
	Write   float64 `json:"write"`
	Request float64 `json:"fault"`
}

// money is that of package replay.
type money struct {
	Reads    float64 `json:"reads"`
	Writes   float64 `json:"writes"`
	Rewrites float64 `json:"rewrites"` // the part of writes for what was sent before
	Requests float64 `json:"faults"`
	Total    float64 `json:"total"`
	KeepAll  float64 `json:"keep_all"` // what keeping everything costs
}

func (r *replayReport) describe(t *replay.Trace) {
	r.Items = t.Items
	_, r.Tokens = t.Sizes()
	for kind, n := range t.Count() {
		if kind != replay.DeadReread && kind != replay.DeadEdit {
			r.Refs += int64(n)
		}
		if kind.IsRecall() {
			r.Recalls += int64(n)
		}
	}
}

func rowOfRun(name string, mark float64, run *replay.Run) replayRow {
	m := money(run.Money)
	return replayRow{
		Policy: name, LowWatermark: mark, Faults: float64(run.Faults), FaultRate: short(run.FaultRate()), FaultTokens: float64(run.FaultSize),
		ObjectMissRatio: short(run.ObjectMissRatio()), ByteMissRatio: short(run.ByteMissRatio()), Cold: run.Cold, Evictions: run.Evictions,
		Batches: run.Batches, PeakTokens: run.Peak, Money: &m, OfKeepAll: short(run.Money.OfKeepAll()),
	}
}

func rowOfBound(b *replay.Bound) replayRow {
	return replayRow{
		Policy: replay.RowBound, Faults: short(b.Faults), FaultRate: short(b.FaultRate()), FaultTokens: short(b.FaultSize),
		ObjectMissRatio: short(b.FaultRate()), ByteMissRatio: short(b.ByteMissRatio()),
	}
}

// short keeps four decimals and never more than x: a lower bound stays one.
func short(x float64) float64 { return math.Floor(1e4*x) / 1e4 }

func (r *replayReport) text(w io.Writer) {
	row(w, "references", "%s to %s of %s tokens: %s", count(r.Refs), many(r.Items, "item"), count(r.Tokens), escape(r.Source))
	if r.Recalls != r.Refs {
		row(w, "recalls", "%s; the others make turns, or are of the recent tail: they can't fault", count(r.Recalls))
	}
	if x := r.Recorded; x != nil {
		row(w, "recorded", "%s (%s), %s; %s dropped for want of room", many(x.Faults, "fault"), share(float64(x.Faults), float64(x.Refs)),
			many(x.Evictions, "eviction"), many(x.Dropped, "event"))
	}
	row(w, "prices", "%g a token read, %g a token written, %g a fault", r.Prices.Read, r.Prices.Write, r.Prices.Request)
	for _, g := range r.Groups {
		g.text(w)
	}
}

func (g *replayGroup) text(w io.Writer) {
	pages := "whole turns"
	if g.PageTokens > 0 {
		pages = "pages of " + count(g.PageTokens)
	}
	fmt.Fprintf(w, "\nbudget of %s tokens, %s\n", count(g.BudgetTokens), pages)
	line := func(cells ...any) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-12s %7s %9s %7s %13s %10s %10s %14s %8s", cells...), " "))
	}
	line("policy", "down to", "faults", "rate", "fault tokens", "of needed", "evictions", "money", "of all")
	for _, r := range g.Rows {
		mark, evictions, money, ofAll := "", "", "", ""
		if r.LowWatermark > 0 {
			mark = fmt.Sprintf("%.4g %%", 100*r.LowWatermark)
		}
		if r.Money != nil {
			evictions, money, ofAll = count(r.Evictions), amount(r.Money.Total), fmt.Sprintf("%.1f %%", 100*r.OfKeepAll)
		}
		line(r.Policy, mark, number(r.Faults), fmt.Sprintf("%.1f %%", 100*r.FaultRate), number(r.FaultTokens),
			fmt.Sprintf("%.1f %%", 100*r.ByteMissRatio), evictions, money, ofAll)
	}
}

// number is a whole number, or one with a decimal.
func number(x float64) string {
	whole := count(int64(math.Floor(x)))
	if x == math.Floor(x) || x >= 1e6 {
		return whole
	}
	return whole + fmt.Sprintf("%.1f", math.Floor(10*(x-math.Floor(x)))/10)[1:]
}

// amount is a sum of money with about four digits.
func amount(x float64) string {
	if x >= 1000 {
		return count(int64(math.Round(x)))
	}
	return fmt.Sprintf("%.4g", x)
}

func share(part, of float64) string { return fmt.Sprintf("%.1f %%", 100*part/max(1, of)) }
