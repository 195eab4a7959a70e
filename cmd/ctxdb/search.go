package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ctxdb/engine"
)

const searchLong = `Search finds the turns that WORDS are about, best first, one line each: score, id, time (UTC),
role, tokens, and the line of the content that has most of the words, or the summary. WORDS may
be a question, names, paths, identifiers and dates; what stands in double quotes must be there
literally, as in ctxdb search FILE '"short read" of the table'. Scores compare within one
search. Records of role meta are found only with --role meta.

With --embedder and --model the words are also compared, by their vector, with the vectors that
ctxdb embed made with that model; the rankings are joined. If the model does not answer, words
alone decide, and stderr says so.

--from and --to take a day like 2026-01-31, itself included, or a time like
2026-01-31T09:30:00Z. --json prints one object a line.

The exit code is 1 if nothing was found.`

const mostHits = 1000 // of one search, by the engine's limit

type searchFlags struct {
	query    engine.Query
	from, to string
	asJSON   bool
	model    modelFlags
}

// searchRow is a turn that was found.
type searchRow struct {
	Score   float64       `json:"score"`
	ID      engine.TurnID `json:"id"`
	Time    string        `json:"time,omitempty"`
	Role    string        `json:"role"`
	Thread  string        `json:"thread,omitempty"`
	Tokens  int           `json:"tokens"`
	Summary string        `json:"summary,omitempty"` // escaped
	Line    string        `json:"line,omitempty"`    // of the content, with most of the words; escaped

	at time.Time
}

func searchVerb() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:        "search FILE WORDS...",
		SuggestFor: []string{"find", "grep"},
		Short:      "Find the turns that are about something",
		Long:       searchLong,
		Args:       arguments(2, -1, "FILE and WORDS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args[1:]); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			e, err := f.model.embedder(cmd)
			if err != nil {
				return err
			}
			o := &engine.Options{}
			if e != nil {
				o.Embedder = e
			}
			return readingWith(args[0], o, func(db *engine.DB) error {
				return f.search(ctx, db, cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.query.K, "hits", "k", 10, "at most `N` turns")
	flags.StringVar(&f.query.Thread, "thread", "", "only this `THREAD`")
	flags.StringSliceVar(&f.query.Roles, "role", nil, "only these `ROLES`, with commas between them")
	flags.StringArrayVar(&f.query.Tags, "tag", nil, "only turns that have this `TAG`; may be repeated: those that have all")
	flags.StringVar(&f.from, "from", "", "only turns of this day or `TIME`, and later ones")
	flags.StringVar(&f.to, "to", "", "only turns of this day or `TIME`, and earlier ones")
	f.model.add(cmd)
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// check makes the query.
func (f *searchFlags) check(cmd *cobra.Command, words []string) (err error) {
	f.query.Text = strings.Join(words, " ")
	if strings.TrimSpace(f.query.Text) == "" {
		return usage(cmd, "search needs WORDS")
	}
	if f.query.K < 1 || f.query.K > mostHits {
		return usage(cmd, "-k %d; it is a number of turns from 1 to %d", f.query.K, mostHits)
	}
	if f.query.From, err = parseDay(f.from, false); err != nil {
		return usage(cmd, "--from %w", err)
	}
	if f.query.To, err = parseDay(f.to, true); err != nil {
		return usage(cmd, "--to %w", err)
	}
	if !f.query.To.IsZero() && f.query.To.Before(f.query.From) {
		return usage(cmd, "--to is before --from")
	}
	return nil
}

// parseDay reads a time, or the first or last moment of a day (UTC); "" is the zero time.
func parseDay(text string, last bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if last {
			t = t.AddDate(0, 0, 1).Add(-1)
		}
		return t, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fmt.Errorf("%q is no day like 2026-01-31 and no time like 2026-01-31T09:30:00Z", text)
	}
	return t, nil
}

// search prints what is found. A hit whose content can't be read is shown by its summary.
func (f *searchFlags) search(ctx context.Context, db *engine.DB, out, errOut io.Writer) error {
	found, err := db.Find(ctx, f.query)
	hits, failed := found.Hits, 0
	for _, n := range found.Notes {
		fmt.Fprintln(errOut, oneLine(errors.New(n)))
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil && len(hits) == 0:
		return fmt.Errorf("%s: %w", db.Path(), err)
	case err != nil: // beside what could be found
		failed++
		fmt.Fprintf(errOut, "%s: %s\n", db.Path(), oneLine(err))
	case len(hits) == 0:
		return fmt.Errorf("%s: nothing was found about: %s", db.Path(), f.query.Text)
	}
	look := newLookout(f.query.Text)
	columns, bold := columnsOf(out), isTerminal(out)
	w := bufio.NewWriter(out)
	var content []byte
	for i := range hits {
		h := &hits[i]
		if content, err = db.AppendContent(content[:0], h.ID); err != nil {
			failed++
			content = content[:0]
			fmt.Fprintf(errOut, "#%d can't be read: %s\n", h.ID, oneLine(err))
		}
		row := searchRow{
			Score: h.Score, ID: h.ID, Time: when(h.Time), Role: h.Role, Thread: h.Thread, Tokens: h.Tokens,
			Summary: firstWords(h.Summary, jsonWords), Line: look.line(content, jsonWords), at: h.Time,
		}
		if err := f.put(w, &row, look, columns, bold); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return errReported
	}
	return nil
}

func (f *searchFlags) put(w io.Writer, r *searchRow, look *lookout, columns int, bold bool) error {
	if f.asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(r)
	}
	_, err := io.WriteString(w, r.line(look, columns, bold)+"\n")
	return err
}

// line is a row as text. Marks come last: they take no columns.
func (r *searchRow) line(look *lookout, columns int, bold bool) string {
	moment := "-"
	if !r.at.IsZero() {
		moment = r.at.UTC().Format(time.DateTime)
	}
	said := r.Line
	if said == "" {
		said = r.Summary
	}
	head := fmt.Sprintf("%7.2f %7s %-19s %-11s %7s  ", r.Score, fmt.Sprintf("#%d", r.ID), moment, quoteName(r.Role), count(r.Tokens))
	room := max(columns-len(head), 20)
	said = cut(look.from(said, room), room)
	if bold {
		said = look.mark(said, "\x1b[1m", "\x1b[0m")
	}
	return strings.TrimRight(head+said, " ")
}

func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
