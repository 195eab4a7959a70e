package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ctxdb/cache"
	"ctxdb/engine"
)

const windowLong = `Window puts the turns of FILE through a window of a fixed budget, each referenced once in its
order, records of role meta left out, and prints what the window did and what is resident at
the end. At least one budget is needed; both hold at every instant. A turn that is larger than
the budget is passed over.`

type windowFlags struct {
	opts   engine.WindowOptions
	policy string
	asJSON bool
}

type windowReport struct {
	File         string      `json:"file"`
	Policy       string      `json:"policy"`
	BudgetTokens int         `json:"budget_tokens,omitempty"`
	BudgetBytes  int64       `json:"budget_bytes,omitempty"`
	Refs         int64       `json:"references"`
	Hits         int64       `json:"hits"`
	Faults       int64       `json:"faults"`
	Evictions    int64       `json:"evictions"`
	PeakTokens   int64       `json:"peak_tokens"`
	PeakBytes    int64       `json:"peak_bytes"`
	Tokens       int64       `json:"tokens"` // resident now
	Bytes        int64       `json:"bytes"`
	TooLarge     int         `json:"too_large"` // turns that alone are above the budget
	Residents    []windowRow `json:"residents"`

	columns int
}

type windowRow struct {
	ID     engine.TurnID `json:"id"`
	Role   string        `json:"role"`
	Tokens int           `json:"tokens"`
	Words  string        `json:"words"`
}

func windowVerb() *cobra.Command {
	var f windowFlags
	cmd := &cobra.Command{
		Use:   "window FILE --budget-tokens N",
		Short: "Put the turns through a window of a fixed budget",
		Long:  windowLong,
		Args:  arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.opts.BudgetTokens <= 0 && f.opts.BudgetBytes <= 0 || f.opts.BudgetTokens < 0 || f.opts.BudgetBytes < 0 {
				return usage(cmd, "window needs --budget-tokens or --budget-bytes, above 0")
			}
			f.opts.Policy = cache.Policy(f.policy)
			if f.opts.Policy != cache.LRU && f.opts.Policy != cache.CLOCK {
				return usage(cmd, "--policy %q; there are lru and clock", f.policy)
			}
			return reading(args[0], func(db *engine.DB) error {
				r, err := f.replay(db, args[0])
				if err != nil {
					return err
				}
				r.columns = columnsOf(cmd.OutOrStdout())
				return show(cmd, f.asJSON, r)
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.opts.BudgetTokens, "budget-tokens", 0, "what may be resident, in tokens")
	flags.Int64Var(&f.opts.BudgetBytes, "budget-bytes", 0, "what may be resident, in bytes of content")
	flags.StringVar(&f.policy, "policy", string(cache.LRU), "who leaves first: lru or clock")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (f *windowFlags) replay(db *engine.DB, file string) (*windowReport, error) {
	w, err := db.Window("replay", f.opts)
	if err != nil {
		return nil, err
	}
	r := &windowReport{
		File: file, Policy: f.policy, BudgetTokens: f.opts.BudgetTokens, BudgetBytes: f.opts.BudgetBytes, Residents: []windowRow{},
	}
	for t, err := range db.Turns(0, 0) {
		if err != nil {
			return nil, err
		}
		if t.Role == engine.RoleMeta {
			continue
		}
		switch _, _, err := w.View(t.ID); {
		case errors.Is(err, engine.ErrOverBudget):
			r.TooLarge++
		case err != nil:
			return nil, err
		}
	}
	s := w.Stats()
	r.Refs, r.Hits, r.Faults, r.Evictions = s.Refs, s.Hits, s.Faults, s.Evictions
	r.PeakTokens, r.PeakBytes, r.Tokens, r.Bytes = s.PeakTokens, s.PeakBytes, s.Tokens, s.Bytes
	for _, id := range w.Resident() {
		t, err := db.Get(id)
		if err != nil {
			return nil, err
		}
		r.Residents = append(r.Residents, windowRow{ID: id, Role: t.Role, Tokens: t.Tokens, Words: words(&t, jsonWords)})
	}
	return r, nil
}

func (r *windowReport) text(w io.Writer) {
	budget := ""
	if r.BudgetTokens > 0 {
		budget = count(r.BudgetTokens) + " tokens"
	}
	if r.BudgetBytes > 0 {
		if budget != "" {
			budget += " and "
		}
		budget += count(r.BudgetBytes) + " bytes"
	}
	row(w, "budget", "%s, policy %s", budget, r.Policy)
	row(w, "references", "%s: %s, %s, %s", count(r.Refs), many(r.Hits, "hit"), many(r.Faults, "fault"), many(r.Evictions, "eviction"))
	row(w, "peak", "%s tokens, %s bytes", count(r.PeakTokens), count(r.PeakBytes))
	if r.TooLarge > 0 {
		row(w, "too large", "%s above the budget, never resident", many(r.TooLarge, "turn"))
	}
	row(w, "resident", "%s, %s tokens, %s bytes", many(len(r.Residents), "turn"), count(r.Tokens), count(r.Bytes))
	for _, t := range r.Residents {
		fmt.Fprintln(w, cut(fmt.Sprintf("%7s %-11s %7s  %s", fmt.Sprintf("#%d", t.ID), quoteName(t.Role), count(t.Tokens), t.Words), r.columns))
	}
}
