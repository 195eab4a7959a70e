package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const windowLong = `Window shows what a window of a budget holds, and why; what left it, and the handles that
stand for that; and the prompt that is made of it: what a model would see. At least one budget
is needed; both hold at every instant.

Without --name the turns of FILE go through a new window, each referenced once in its order,
records of role meta left out, as if an agent had worked under that budget. A turn that is
larger than the budget is passed over. With --name it is the window that FILE remembers under
that name, as it was left; where a budget is given, what would be left of it under that one,
what its recorded references say about the budget (whether it thrashes, which budget would end
that, and whether paging pays), and the prompt.

The prompt is that of the next step, which --query says is about what: the pinned turns, what
is resident, what is fetched for the question, the newest turns; then the index, a line for
each turn that is cold and may be wanted. --format prints it alone: as text, or as the messages
that the Messages API of Anthropic or the chat completions API of OpenAI take.

Why a turn is resident: it is pinned, held (pinned for a while since it came back), fetched
(for the question), new (one of the newest turns of FILE), a call (of a result that is one of
these), an old copy of a file that leaves first, or it is kept by the policy.

FILE is not changed, whatever the window does.`

type windowFlags struct {
	opts   engine.WindowOptions
	query  engine.Query
	policy string
	pages  string
	name   string
	format string
	asJSON bool
}

func windowVerb() *cobra.Command {
	var f windowFlags
	cmd := &cobra.Command{
		Use:   "window FILE --budget-tokens N | --name NAME",
		Short: "Show what a window of a fixed budget holds, and why",
		Long:  windowLong,
		Args:  arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			return reading(args[0], func(db *engine.DB) error { return f.show(ctx, cmd, db, args[0]) })
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.opts.BudgetTokens, "budget-tokens", 0, "at most `N` tokens may be resident")
	flags.Int64Var(&f.opts.BudgetBytes, "budget-bytes", 0, "at most `N` bytes of content may be resident")
	flags.StringVar(&f.name, "name", "", "the `NAME` of a window that FILE remembers")
	flags.StringVar(&f.policy, "policy", "", "the `POLICY`, who leaves first: "+policyNames()+" (default idlesize, or that of NAME)")
	flags.StringVar(&f.pages, "page-tokens", "", "long turns are resident by parts of about `N` tokens; or whole (default 1024, or that of NAME)")
	flags.Float64Var(&f.opts.LowWatermark, "watermark", 0, "evict down to this `PART` of the budget; 1 is one at a time (default 0.6)")
	flags.IntVar(&f.opts.KeepRecent, "keep-recent", 0, "the newest `N` turns leave last; -1 for none (default 4)")
	flags.BoolVar(&f.opts.PinOnFault, "pin-on-fault", false, "a page that comes back stays for a while")
	flags.StringVar(&f.query.Text, "query", "", "what the next step is about, in a `TEXT`; the prompt has turns about that")
	flags.StringVar(&f.query.Thread, "thread", "", "the next step is one of this `THREAD`")
	flags.IntVar(&f.opts.IndexTokens, "index-tokens", 0, "the index may take `N` tokens of the budget (default a tenth)")
	flags.StringVar(&f.format, "format", "", "print the prompt alone, in this `FORMAT`: "+strings.Join(promptFormats, ", "))
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (f *windowFlags) show(ctx context.Context, cmd *cobra.Command, db *engine.DB, file string) error {
	r, err := f.look(ctx, db, file, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	r.columns = columnsOf(cmd.OutOrStdout())
	if f.format != "" {
		err = r.Prompt.only(f.format, cmd.OutOrStdout(), cmd.ErrOrStderr())
	} else {
		err = show(cmd, f.asJSON, r)
	}
	if err == nil && r.Unreadable > 0 {
		return errReported
	}
	return err
}

func (f *windowFlags) hasBudget() bool { return f.opts.BudgetTokens > 0 || f.opts.BudgetBytes > 0 }

func (f *windowFlags) check(cmd *cobra.Command) (err error) {
	switch o := &f.opts; {
	case o.BudgetTokens < 0 || o.BudgetBytes < 0 || f.name == "" && !f.hasBudget():
		return usage(cmd, "window needs --budget-tokens or --budget-bytes, above 0, or --name")
	case o.KeepRecent < -1:
		return usage(cmd, "--keep-recent %d; it is a number of turns, or -1 for none", o.KeepRecent)
	case !(o.LowWatermark >= 0 && o.LowWatermark <= 1), o.LowWatermark == 0 && cmd.Flags().Changed("watermark"):
		return usage(cmd, "--watermark %g; it is above 0 and at most 1", o.LowWatermark)
	case f.format != "" && !slices.Contains(promptFormats, f.format):
		return usage(cmd, "--format %q; there are %s", f.format, strings.Join(promptFormats, ", "))
	case f.format != "" && f.asJSON:
		return usage(cmd, "give --format or --json, not both")
	case o.IndexTokens < 0:
		return usage(cmd, "--index-tokens %d; it is above 0", o.IndexTokens)
	case !f.hasBudget() && (f.format != "" || f.query.Text != ""):
		return usage(cmd, "a prompt needs a budget: --budget-tokens or --budget-bytes")
	}
	if f.policy != "" {
		if f.opts.Policy, err = parsePolicy(f.policy); err != nil {
			return usage(cmd, "%w", err)
		}
	}
	if f.pages != "" {
		n, err := parsePageSize(f.pages)
		if err != nil || n > math.MaxInt32 {
			return usage(cmd, "--page-tokens %q; a page is like 1024, or whole", f.pages)
		}
		if f.opts.PageTokens = int(n); n == 0 {
			f.opts.PageTokens = -1
		}
	}
	return nil
}

// look fills the report.
func (f *windowFlags) look(ctx context.Context, db *engine.DB, file string, errOut io.Writer) (*windowReport, error) {
	r := &windowReport{File: file, Name: f.name, Residents: []windowRow{}, Evicted: []windowRow{}}
	var w *engine.Window
	var err error
	if f.name != "" {
		w, err = f.remembered(db, r)
	} else {
		w, err = f.pass(ctx, db, r, errOut)
	}
	if err != nil {
		return nil, err
	}
	r.options(w, f.hasBudget())
	if f.hasBudget() {
		r.Prompt, err = assemble(ctx, w, f.query)
		if errors.Is(err, engine.ErrOverBudget) && f.format == "" { // the rest says why
			fmt.Fprintf(errOut, "no prompt: %s\n", oneLine(err))
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", db.Path(), err)
		}
	}
	return r, r.contents(ctx, db, w)
}

// pass puts every turn through a new window.
func (f *windowFlags) pass(ctx context.Context, db *engine.DB, r *windowReport, errOut io.Writer) (*engine.Window, error) {
	w, err := db.Window("", f.opts)
	if err != nil {
		return nil, err
	}
	for t, err := range db.Turns(0, 0) {
		if ctx.Err() != nil {
			return nil, errors.New("interrupted")
		}
		if err == nil && t.Role == engine.RoleMeta {
			continue
		}
		if err == nil {
			_, _, err = w.View(t.ID)
		}
		switch {
		case errors.Is(err, engine.ErrOverBudget):
			r.TooLarge++
		case err != nil:
			r.Unreadable++
			fmt.Fprintf(errOut, "#%d can't be read: %s\n", t.ID, oneLine(err))
		}
	}
	s := w.Stats()
	r.Did = didOf(&s)
	r.Did.Reason = passReason(&s, r.TooLarge)
	return w, nil
}

// passReason is the verdict on a window through which every turn went once.
func passReason(s *engine.WindowStats, tooLarge int) string {
	switch {
	case s.Refs == 0 && tooLarge > 0:
		return nothingFits
	case s.Evictions > 0:
		return "each turn was referenced once; `ctxdb replay` tells what paging costs"
	case tooLarge > 0:
		return "all that is not too large fits: nothing has to leave, and paging is of no use here"
	}
	return "all fits: nothing has to leave, and paging is of no use here"
}

const nothingFits = "nothing fits: each turn alone is above the budget"

// remembered opens a window as it was left. A budget, if any, is tried on what it recorded.
func (f *windowFlags) remembered(db *engine.DB, r *windowReport) (*engine.Window, error) {
	info, err := db.WindowInfo(f.name)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, fmt.Errorf("%s: window %q: %w; %s", db.Path(), f.name, engine.ErrNotFound, rememberedNames(db))
	}
	if err != nil {
		return nil, err
	}
	opts := f.opts
	opts.Policy, opts.PageTokens = info.Policy, info.PageTokens
	if !f.hasBudget() {
		opts.BudgetTokens = math.MaxInt32
	}
	r.References = info.References
	w, err := db.Window(f.name, opts)
	if err != nil || !f.hasBudget() {
		return w, err
	}
	if f.policy != "" {
		opts.Policy = f.opts.Policy
	}
	if f.pages != "" {
		opts.PageTokens = f.opts.PageTokens
	}
	r.Did, err = tried(db, f.name, opts)
	return w, err
}

func rememberedNames(db *engine.DB) string {
	if names := db.Windows(); len(names) > 0 {
		return "there are " + quoteAll(names)
	}
	return "the file remembers none"
}

// tried puts the references that a window recorded through a new one; nil: there are none.
func tried(db *engine.DB, name string, opts engine.WindowOptions) (*windowDid, error) {
	w, err := db.Window("", opts)
	if err != nil {
		return nil, err
	}
	refs, tooLarge := 0, 0
	for e, err := range db.Trace() {
		if err != nil || e.Window != name || e.Kind != engine.TraceRef {
			continue
		}
		refs++
		if e.Part < 0 {
			_, _, err = w.View(e.ID)
		} else {
			_, _, err = w.Page(e.ID, e.Part)
		}
		if errors.Is(err, engine.ErrOverBudget) {
			tooLarge++
		} else if err != nil && !errors.Is(err, engine.ErrNotFound) {
			return nil, err
		}
	}
	if refs == 0 {
		return nil, nil
	}
	s := w.Stats()
	did := didOf(&s)
	if did.Reason = s.Reason; s.Refs == 0 && tooLarge > 0 {
		did.Reason = nothingFits
	}
	return did, nil
}
