package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
	"ctxdb/format"
)

const appendLong = `Append adds a turn to FILE, which is made if there is none, and prints its id. The turn is
durable when the id is printed. CONTENT is taken from the argument, or from stdin, to its last
byte, where the argument is - or absent.

With --jsonl it reads turns from stdin, one line of JSON each as ctxdb export --format jsonl
writes them, and adds all of them or none. A line needs role and content; an id in it is
ignored, the turn gets one of its own. reply_to names a turn of FILE, reply_key one of FILE or
of an earlier line.

A key that FILE has already with the same content adds nothing and prints the turn's id; with
other content it is an error.`

type appendFlags struct {
	turn      engine.Turn
	replyTo   idFlag
	time      string
	fromLines bool
}

func appendVerb() *cobra.Command {
	var f appendFlags
	cmd := &cobra.Command{
		Use:   "append FILE --role ROLE [CONTENT|-]",
		Short: "Add a turn",
		Long:  appendLong,
		Args:  arguments(1, 2, "FILE and CONTENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			turns, err := f.turns(cmd, args[1:])
			if err != nil {
				return err
			}
			return appendTurns(cmd.Context(), cmd.OutOrStdout(), args[0], turns)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.turn.Role, "role", "", "the `ROLE` of who said it: user, assistant, tool_call, tool_result, system, meta, or another")
	flags.StringVar(&f.turn.Thread, "thread", "", "the `THREAD`, a sequence of turns, that it belongs to")
	flags.StringVar(&f.turn.Key, "key", "", "your own `KEY` of it, unique in the file")
	flags.Var(&f.replyTo, "reply-to", "the turn it answers")
	flags.StringVar(&f.turn.ReplyKey, "reply-key", "", "the same, by its `KEY`")
	flags.StringArrayVar(&f.turn.Tags, "tag", nil, "a `TAG`; may be repeated")
	flags.StringArrayVar(&f.turn.Entities, "entity", nil, "a `NAME`, path or address that it is about; may be repeated")
	flags.StringVar(&f.turn.Summary, "summary", "", "what it says, a line of `TEXT`")
	flags.BoolVar(&f.turn.Decision, "decision", false, "mark it as a decision")
	flags.StringVar(&f.time, "time", "", "the `TIME` when it was said, like 2026-01-31T09:30:00Z (default now)")
	flags.BoolVar(&f.fromLines, "jsonl", false, "read turns from stdin, one line of JSON each")
	return cmd
}

// turns is what the command line asks to append.
func (f *appendFlags) turns(cmd *cobra.Command, args []string) ([]engine.Turn, error) {
	if f.fromLines {
		if len(args) > 0 || cmd.Flags().NFlag() > 1 {
			return nil, usage(cmd, "--jsonl takes everything from stdin; leave out CONTENT and the other flags")
		}
		return readLines(cmd.InOrStdin())
	}
	if f.turn.Role == "" {
		return nil, usage(cmd, "append needs --role, like --role user")
	}
	if f.replyTo != 0 && f.turn.ReplyKey != "" {
		return nil, usage(cmd, "give --reply-to or --reply-key, not both")
	}
	t := f.turn
	t.ReplyTo, t.Time = engine.TurnID(f.replyTo), time.Now()
	if f.time != "" {
		var err error
		if t.Time, err = time.Parse(time.RFC3339Nano, f.time); err != nil {
			return nil, usage(cmd, "--time %q is no time like 2026-01-31T09:30:00Z", f.time)
		}
	}
	var err error
	t.Content, err = content(cmd.InOrStdin(), args)
	return []engine.Turn{t}, err
}

func content(in io.Reader, args []string) ([]byte, error) {
	if len(args) == 1 && args[0] != "-" {
		return []byte(args[0]), nil
	}
	b, err := io.ReadAll(io.LimitReader(in, format.MaxContent+1))
	if err != nil {
		return nil, fmt.Errorf("stdin: %w", err)
	}
	if len(b) > format.MaxContent {
		return nil, fmt.Errorf("stdin: %w: content of a turn has at most %d bytes; nothing was appended", engine.ErrTooLarge, format.MaxContent)
	}
	return b, nil
}

// readLines reads turns as MarshalTurn writes them. Blank lines are none.
func readLines(in io.Reader) (turns []engine.Turn, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	size := 0
	for line := 1; ; line++ {
		b, err := readLine(r, format.MaxBatch)
		if size += len(b); size > format.MaxBatch {
			return nil, fmt.Errorf("stdin:%d: %w: one batch has at most %d bytes; nothing was appended", line, engine.ErrTooLarge, format.MaxBatch)
		}
		if len(bytes.TrimSpace(b)) > 0 {
			t, perr := transcript.ParseTurn(b)
			if perr != nil {
				return nil, fmt.Errorf("stdin:%d: %w; nothing was appended", line, perr)
			}
			e := engineTurn(t)
			if e.ReplyKey == "" {
				e.ReplyTo = engine.TurnID(t.ReplyTo)
			}
			turns = append(turns, e)
		}
		if err == io.EOF {
			return turns, nil
		}
		if err != nil {
			return nil, fmt.Errorf("stdin:%d: %w; nothing was appended", line, err)
		}
	}
}

// readLine reads up to a line break and gives up above a limit, whose excess shows in the
// length of what it returns.
func readLine(r *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err != bufio.ErrBufferFull || len(line) > limit {
			return line, err
		}
	}
}

func appendTurns(ctx context.Context, out io.Writer, path string, turns []engine.Turn) error {
	db, err := openWriting(path)
	if err != nil {
		return err
	}
	ids, err := db.Append(ctx, turns...)
	if place := placeError(path, err); place != nil {
		err = fmt.Errorf("%w; nothing was appended", place)
	} else if err != nil {
		err = fmt.Errorf("%s: %s; nothing was appended", path, hint(err, len(turns)))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for _, id := range ids {
		fmt.Fprintln(w, uint64(id))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("%s in %s, but the ids can't be printed: %w", wereAppended(len(ids)), path, err)
	}
	return nil
}

func wereAppended(n int) string {
	if n == 1 {
		return "1 turn is"
	}
	return many(n, "turn") + " are"
}

// hint is an error of Append, and what to do about it.
func hint(err error, turns int) string {
	text := oneLine(err)
	if turns == 1 {
		text = reason(err)
	}
	if errors.Is(err, engine.ErrKeyExists) {
		return text + "; choose another key"
	}
	return text
}
