package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const salvageLong = `Salvage copies every turn of SRC that can still be read and proves itself into DST, a new file,
and prints what was kept and what was lost. It needs neither superblocks nor catalog nor
indexes, and never writes to SRC. DST must not exist; it appears when it is whole and durable.
Turns keep their ids, and ids of lost turns stay lost: ctxdb get names them damaged.

The exit code is 1 if anything was lost, or if a turn has two whole copies that differ and
nothing says which one was acknowledged.`

// salvageReport is the engine's with a text form.
type salvageReport struct {
	engine.SalvageReport

	everything bool // in the text: no list is cut
}

func salvageVerb() *cobra.Command {
	var asJSON, verbose bool
	cmd := &cobra.Command{
		Use:        "salvage SRC DST",
		SuggestFor: []string{"repair", "recover"},
		Short:      "Copy what is readable of a damaged file into a new one",
		Long:       salvageLong,
		Args:       arguments(2, 2, "SRC and DST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] == "" {
				return usage(cmd, "the name of DST is empty")
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			bar := &stages{w: cmd.ErrOrStderr()}
			found, err := engine.SalvageWith(ctx, args[1], args[0], engine.SalvageOptions{Progress: bar.move})
			bar.done()
			switch {
			case ctx.Err() != nil:
				return fmt.Errorf("interrupted; %s was not made", args[1])
			case err != nil:
				return salvageError(args[0], args[1], err)
			}
			if found.UnknownFeatures != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "ctxdb: warning: %s has features %s that this program does not know; what they add is not in %s. A newer ctxdb may salvage more.\n",
					escape(args[0]), found.UnknownFeatures, escape(args[1]))
			}
			r := &salvageReport{found, verbose}
			if err := show(cmd, asJSON, r); err != nil {
				return err
			}
			if r.isIncomplete() {
				return errReported
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "name everything, not only the first 20 of a list")
	return cmd
}

func salvageError(src, dst string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: exists; salvage makes a new file", dst)
	case isAbsent(src):
		return fmt.Errorf("%s: no such file", src)
	case errors.Is(err, engine.ErrNothingSalvaged), errors.Is(err, engine.ErrNotCtxdb):
		return fmt.Errorf("%w; %s was not made", err, dst)
	}
	if !isRegular(src) {
		return explain(src, err)
	}
	if f, oerr := os.Open(src); oerr == nil {
		f.Close()
		if place := placeError(dst, err); place != nil {
			return place
		}
	}
	return explain(src, err)
}

func isAbsent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// isIncomplete reports whether DST is less than SRC was, or may be.
func (r *salvageReport) isIncomplete() bool {
	return r.LostTurns > 0 || len(r.Lost) > 0 || len(r.SourcesLost) > 0 || len(r.Conflicts) > 0
}

func (r *salvageReport) text(w io.Writer) {
	fmt.Fprintf(w, "kept %s of %s in %s (next id %s)\n", count(r.Kept), many(r.Kept+r.LostTurns, "turn"), escape(r.Dst), count(r.NextID))
	if len(r.Lost) > 0 {
		fmt.Fprintf(w, "lost %s:\n", many(r.LostTurns, "turn"))
		r.list(w, lostLines(r.Lost))
	}
	if len(r.SourcesLost) > 0 {
		fmt.Fprintf(w, "sources lost of %s, which are kept:\n", many(turnsIn(r.SourcesLost), "turn"))
		r.list(w, lostLines(r.SourcesLost))
	}
	if len(r.Conflicts) > 0 {
		fmt.Fprintf(w, "conflicts: two whole copies of %s differ, and nothing says which was acknowledged:\n", many(len(r.Conflicts), "turn"))
		r.list(w, conflictLines(r.Conflicts))
	}
	if len(r.FromOlderCopies) > 0 {
		fmt.Fprintf(w, "from older copies, the newest is damaged: %s\n", r.ranges(r.FromOlderCopies))
	}
	if len(r.Unconfirmed) > 0 {
		fmt.Fprintf(w, "unconfirmed, perhaps never acknowledged: %s\n", r.ranges(r.Unconfirmed))
	}
	r.scanned(w)
}

// scanned says what was gone through, and what was odd about it.
func (r *salvageReport) scanned(w io.Writer) {
	fmt.Fprintf(w, "scanned %s: %s, %s (%s old), %s\n", many(r.ScannedBytes, "byte"), many(r.Superblocks, "superblock"),
		many(r.Segments, "segment"), count(r.OldSegments), many(r.Frames, "frame"))
	if r.Foreign > 0 {
		fmt.Fprintf(w, "ignored %s of another file\n", many(r.Foreign, "structure"))
	}
	if r.ShiftedBytes != 0 {
		fmt.Fprintf(w, "the file began at offset %s, not at 0\n", count(r.ShiftedBytes))
	}
	if r.Unreadable > 0 {
		fmt.Fprintf(w, "the disk could not read %s\n", many(r.Unreadable, "byte"))
	}
	if r.Live {
		fmt.Fprintf(w, "a writer holds %s: what it wrote meanwhile may be missing here; copy the file when it is closed\n", escape(r.Src))
	}
}
