package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ctxdb/cache"
	"ctxdb/cache/replay"
)

const replayLong = `Replay answers "what if": the same references under other budgets, policies, page sizes and
watermarks. It prints faults, what they bring, and what the prompts cost, next to what could
have been reached by somebody who knows the future: Belady-size, which is an algorithm, and a
lower bound (the dual of the interval packing program) that nothing can go below.

The references are those that FILE's windows recorded; or of a trace, lines of id,size or of
step,item,size,kind,group,itemkind,parent; or of the published locality model; or inferred
from a session, which is a transcript or a file of ctxdb's: re-reads, edits of what was read,
and quotes of distinctive strings. Inferred references compare policies; they are no promise
of rates. In a session only these recalls count, and the last 4 turns are always in view.

The rate is faults by references that could fault (the object miss ratio), "of needed" is what
faults brought by what was referred to (the byte miss ratio), "of all" is the money by that of
keeping everything in the prompt.

A budget is 16000, 16k, or a share of everything like 25%. Prices are for a token, in any
currency, and for a fault beside its tokens. Every prompt is all that is resident; what stands
behind the first change of a prompt is written to the prompt cache again.`

type replayFlags struct {
	trace, session, window                 string
	model                                  bool
	seed                                   uint64
	budgets, policies, pageSizes, lowMarks []string
	prices                                 replay.Prices
	plot                                   outFlags
	asJSON                                 bool
}

func replayVerb() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE | --trace CSV | --model | --from-session TRANSCRIPT",
		Short: "Say what other budgets and policies would have done",
		Long:  replayLong,
		Args:  arguments(0, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd)
			defer stop()
			if err := f.check(cmd, args); err != nil {
				return err
			}
			r, t, err := f.load(ctx, cmd.InOrStdin(), args)
			if err == nil {
				err = f.run(ctx, cmd, r, t)
			}
			switch {
			case ctx.Err() != nil:
				return errors.New("interrupted")
			case errors.Is(err, replay.ErrOptions):
				return usage(cmd, "%w", err)
			case err != nil:
				return err
			}
			return show(cmd, f.asJSON, r)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *replayFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.trace, "trace", "", "a trace in `CSV`; - is stdin")
	flags.BoolVar(&f.model, "model", false, "the published locality model: 1,500 references to 60 turns")
	flags.StringVar(&f.session, "from-session", "", "a `TRANSCRIPT`, or a file of ctxdb's, to infer references from; - is a transcript on stdin")
	flags.StringVar(&f.window, "window", "", "the `NAME` of the window of FILE, if it has several")
	flags.Uint64Var(&f.seed, "seed", 1, "the seed `N` of the model")
	flags.StringSliceVar(&f.budgets, "budgets", nil, "`BUDGETS` like 16k,32k,25% (default 10%,25%,50%; the model's is 8k)")
	flags.StringSliceVar(&f.policies, "policies", nil, "the `POLICIES`, who leaves first: "+policyNames()+" (default all)")
	flags.StringSliceVar(&f.pageSizes, "page-tokens", nil, "the `SIZES` of pages, or whole (default 1024; whole for the model and for lines of id,size)")
	flags.StringSliceVar(&f.lowMarks, "watermarks", nil, "evict down to these `PARTS` of the budget; 1 is one at a time (default 0.6; 1 where turns are whole by default)")
	flags.Float64Var(&f.prices.Read, "price-read", replay.DefaultPrices.Read, "the `PRICE` of a token that the prompt cache has")
	flags.Float64Var(&f.prices.Write, "price-write", replay.DefaultPrices.Write, "the `PRICE` of a token that it has not")
	flags.Float64Var(&f.prices.Request, "price-fault", replay.DefaultPrices.Request, "the `PRICE` of a fault, beside its tokens")
	flags.StringVar(&f.plot.path, "plot", "", "draw miss-ratio curves into this `FILE`, .svg or .png, which must not exist")
	flags.BoolVar(&f.plot.force, "force", false, "replace the plot if it exists")
	jsonFlag(cmd, &f.asJSON)
}

// check refuses what can be seen to be wrong before anything is read.
func (f *replayFlags) check(cmd *cobra.Command, args []string) error {
	sources := len(args)
	for _, given := range []bool{f.trace != "", f.model, f.session != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources != 1:
		return usage(cmd, "replay needs one of FILE, --trace, --model and --from-session")
	case f.window != "" && len(args) == 0:
		return usage(cmd, "--window is for FILE")
	case f.plot.path != "" && plotFormat(f.plot.path) == "":
		return usage(cmd, "--plot %q; its name ends with .svg or .png", f.plot.path)
	}
	g, err := f.grid()
	if err != nil {
		return usage(cmd, "%w", err)
	}
	o := g.base(f.prices)
	o.Budget = 1
	if _, err := replay.Simulate(cmd.Context(), &replay.Trace{}, o); err != nil { // prices
		return usage(cmd, "%w", err)
	}
	return nil
}

// run fills the report in and draws the plot.
func (f *replayFlags) run(ctx context.Context, cmd *cobra.Command, r *replayReport, t *replay.Trace) error {
	g, err := f.grid()
	if err != nil {
		return err
	}
	g.complete(f.model || t.IsPlain && f.trace != "", f.model)
	budgets := g.absolute(r.Tokens)
	r.Prices = prices(f.prices)
	bar := newProgress(cmd.ErrOrStderr(), "replay", int64(len(budgets)*len(g.pageSizes)*(len(g.policies)*len(g.marks)+2)), false)
	for _, budget := range budgets {
		for _, size := range g.pageSizes {
			group, err := f.group(ctx, t, &g, budget, size, bar)
			if err != nil {
				return err
			}
			r.Groups = append(r.Groups, group)
		}
	}
	bar.done()
	if f.plot.path == "" {
		return nil
	}
	o := g.base(f.prices)
	o.PageSize, o.LowWatermark = g.pageSizes[0], g.marks[0]
	curve, err := replay.NewCurve(ctx, t, o, replay.Budgets(t, plotPoints), g.policies)
	if err != nil {
		return err
	}
	return f.plot.write(nil, r.path, func(w io.Writer) error { return drawCurve(w, curve, plotFormat(f.plot.path)) })
}

// group is everything at one budget and page size.
func (f *replayFlags) group(ctx context.Context, t *replay.Trace, g *replayGrid, budget, size int64, bar *progress) (replayGroup, error) {
	group := replayGroup{BudgetTokens: budget, PageTokens: size}
	o := g.base(f.prices)
	o.Budget, o.PageSize = budget, size
	for _, o.Policy = range g.policies {
		for _, o.LowWatermark = range g.marks {
			run, err := replay.Simulate(ctx, t, o)
			if err != nil {
				return group, err
			}
			group.Rows = append(group.Rows, rowOfRun(string(o.Policy), o.LowWatermark, &run))
			bar.add(1)
		}
	}
	run, err := replay.Belady(ctx, t, o)
	if err != nil {
		return group, err
	}
	bar.add(1)
	bound, err := replay.LowerBound(ctx, t, o)
	if err != nil {
		return group, err
	}
	bar.add(1)
	group.Rows = append(group.Rows, rowOfRun(replay.RowBelady, 0, &run), rowOfBound(&bound))
	return group, nil
}

func policyNames() (names string) {
	for i, p := range cache.Policies() {
		if i > 0 {
			names += ", "
		}
		names += string(p)
	}
	return names
}

func parsePolicy(name string) (cache.Policy, error) {
	p, err := cache.ParsePolicy(name)
	if err != nil || name == "" {
		return "", fmt.Errorf("policy %q; there are %s", name, policyNames())
	}
	return p, nil
}
