package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const lsLong = `Ls lists turns as a timeline, one line each: id, time (UTC), role, tokens, and the summary or
the first words of the content. A line that begins with -- stands where the day or the thread
changes, or where an hour and more passed.

Records of role meta are no part of the conversation and are listed with --all or --role meta.
Control characters are shown escaped. --json prints one object a line.`

type lsFlags struct {
	thread      string
	roles       []string
	from, to    idFlag
	newest      int
	all, asJSON bool
}

// lsRow is one turn of a list.
type lsRow struct {
	ID       engine.TurnID `json:"id"`
	Time     string        `json:"time,omitempty"`
	Role     string        `json:"role"`
	Thread   string        `json:"thread,omitempty"`
	Key      string        `json:"key,omitempty"`
	ReplyTo  engine.TurnID `json:"reply_to,omitempty"`
	Tokens   int           `json:"tokens"`
	Bytes    int           `json:"bytes"`
	Decision bool          `json:"decision,omitempty"`
	Tags     []string      `json:"tags,omitempty"`
	Words    string        `json:"words"` // the summary, or the first words; escaped
}

func lsVerb() *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:        "ls FILE",
		SuggestFor: []string{"list", "log"},
		Short:      "List turns as a timeline, one line each",
		Long:       lsLong,
		Args:       arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.newest < 0 {
				return usage(cmd, "-n %d; it is a number of turns", f.newest)
			}
			return reading(args[0], func(db *engine.DB) error {
				return f.list(db, cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.thread, "thread", "", "only this `THREAD` and those inside it")
	flags.StringSliceVar(&f.roles, "role", nil, "only these `ROLES`, with commas between them")
	flags.Var(&f.from, "from", "from this turn on")
	flags.Var(&f.to, "to", "up to this turn, itself included")
	flags.IntVarP(&f.newest, "newest", "n", 0, "only the newest `N` of them (default all)")
	flags.BoolVar(&f.all, "all", false, "list records of role meta too")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// admits reports whether a turn belongs on the list.
func (f *lsFlags) admits(t *engine.Turn) bool {
	if len(f.roles) > 0 {
		return slices.Contains(f.roles, t.Role) && inThread(t.Thread, f.thread)
	}
	return (f.all || t.Role != engine.RoleMeta) && inThread(t.Thread, f.thread)
}

func (f *lsFlags) list(db *engine.DB, out, errOut io.Writer) error {
	end := db.Stats().NextID
	if f.to != 0 {
		end = min(end, engine.TurnID(f.to)+1)
	}
	from := max(engine.TurnID(f.from), 1)
	failed := 0
	fail := func(id engine.TurnID, err error) {
		failed++
		fmt.Fprintf(errOut, "#%d can't be read: %s\n", id, oneLine(err))
	}
	w := bufio.NewWriter(out)
	columns := columnsOf(out)
	var l timeline
	listed := 0
	put := func(t *engine.Turn) error { listed++; return f.put(w, &l, t, columns) }
	err := f.each(db, from, end, put, fail)
	if err == nil {
		err = w.Flush()
	}
	if err == nil && failed > 0 {
		err = errReported
	}
	if have := db.Stats().Turns; err == nil && listed == 0 && have > 0 {
		fmt.Fprintf(errOut, "none of %s is listed by what was asked for\n", many(have, "turn"))
	}
	return err
}

// each calls put for the turns on the list, in order.
func (f *lsFlags) each(db *engine.DB, from, end engine.TurnID, put func(*engine.Turn) error, fail func(engine.TurnID, error)) error {
	if f.newest > 0 {
		from = f.newestFrom(db, from, end)
	}
	if end <= from {
		return nil
	}
	for t, err := range db.Turns(from, end) {
		switch {
		case err != nil:
			fail(t.ID, err)
		case !f.admits(&t):
		default:
			if err := put(&t); err != nil {
				return err
			}
		}
	}
	return nil
}

// newestFrom finds where the newest turns of the list begin, from the end on.
func (f *lsFlags) newestFrom(db *engine.DB, from, end engine.TurnID) engine.TurnID {
	const step = 256
	left := f.newest
	for end > from {
		begin := max(from, end-min(end, step))
		var found []engine.TurnID
		for t, err := range db.Turns(begin, end) {
			if err == nil && f.admits(&t) {
				found = append(found, t.ID)
			}
		}
		if len(found) >= left {
			return found[len(found)-left]
		}
		left -= len(found)
		end = begin
	}
	return from
}

const jsonWords = 200 // columns of the words in JSON

func (f *lsFlags) put(w io.Writer, l *timeline, t *engine.Turn, columns int) error {
	r := rowOf(t)
	if f.asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(r)
	}
	if heading := l.heading(t); heading != "" {
		if _, err := io.WriteString(w, cut(heading, columns)+"\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, r.line(t.Time, columns)+"\n")
	return err
}

func rowOf(t *engine.Turn) lsRow {
	return lsRow{
		ID: t.ID, Time: when(t.Time), Role: t.Role, Thread: t.Thread, Key: t.Key, ReplyTo: t.ReplyTo, Tokens: t.Tokens,
		Bytes: len(t.Content), Decision: t.Decision, Tags: t.Tags, Words: words(t, jsonWords),
	}
}

// words is what a turn says, in a few columns.
func words(t *engine.Turn, columns int) string {
	if t.Summary != "" {
		return firstWords(t.Summary, columns)
	}
	return firstWords(string(t.Content[:min(len(t.Content), 16*jsonWords)]), columns)
}

func (r *lsRow) line(at time.Time, columns int) string {
	moment := "-"
	if !at.IsZero() {
		moment = at.UTC().Format(time.DateTime)
	}
	mark := ""
	if r.Decision {
		mark = "[decision] "
	}
	head := fmt.Sprintf("%7s %-19s %-11s %7s  %s", fmt.Sprintf("#%d", r.ID), moment, quoteName(r.Role), count(r.Tokens), mark)
	return strings.TrimRight(cut(head+r.Words, columns), " ")
}
