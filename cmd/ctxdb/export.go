package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const exportLong = `Export writes the turns of FILE in their order.

--format source gives transcripts back, byte for byte as they were imported; a turn that came
without a source is a line of ctxdb's own JSON there. Several transcripts in one file come one
after the other, or interleaved where they were imported so: --thread picks one. --format jsonl
writes every turn with all its fields as a line of ctxdb's own JSON, for ctxdb import and
ctxdb append --jsonl.

Turns that can't be read are named on stderr, the others are written, and the exit code is 1.`

var exportFormats = []string{"source", "jsonl"}

type exportFlags struct {
	thread, format string
	out            outFlags
}

func exportVerb() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Give transcripts back, byte for byte",
		Long:  exportLong,
		Args:  arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(exportFormats, f.format) {
				return usage(cmd, "--format %q; there are %s", f.format, strings.Join(exportFormats, " and "))
			}
			if err := f.out.checkName(cmd); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			return reading(args[0], func(db *engine.DB) error {
				return f.out.write(cmd.OutOrStdout(), args[0], func(w io.Writer) error {
					return f.export(ctx, w, cmd.ErrOrStderr(), db)
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.thread, "thread", "", "only this `THREAD` and those inside it")
	flags.StringVar(&f.format, "format", "source", "the `FORMAT`: source or jsonl")
	f.out.add(cmd)
	return cmd
}

// export writes the selected turns. One that can't be read is reported, and the rest is
// written nevertheless.
func (f *exportFlags) export(ctx context.Context, out, errOut io.Writer, db *engine.DB) error {
	write, finish := writeLine(out), func() error { return nil }
	if f.format == "source" {
		s := &sourceWriter{out: &lastByte{w: out}}
		write, finish = s.turn, s.close
	}
	written, failed := 0, 0
	for t, err := range db.Sources(0, 0) {
		if ctx.Err() != nil {
			return errors.New("interrupted; the export is not complete")
		}
		if err == nil && !inThread(t.Thread, f.thread) {
			continue
		}
		if err != nil {
			failed++
			fmt.Fprintf(errOut, "#%d is left out: %s\n", t.ID, oneLine(err))
			continue
		}
		if err := write(t, t.Source); err != nil {
			return err
		}
		written++
	}
	if err := finish(); err != nil {
		return err
	}
	switch {
	case failed > 0:
		fmt.Fprintf(errOut, "%s left out; `ctxdb verify` says more\n", many(failed, "turn"))
		return errReported
	case written == 0 && f.thread != "":
		return fmt.Errorf("%s: thread %q: %w; `ctxdb inspect` lists the threads", db.Path(), f.thread, engine.ErrNotFound)
	}
	return nil
}

func writeLine(out io.Writer) func(engine.Turn, []byte) error {
	return func(t engine.Turn, source []byte) error {
		b, err := marshal(t, source)
		if err != nil {
			return err
		}
		_, err = out.Write(append(b, '\n'))
		return err
	}
}
