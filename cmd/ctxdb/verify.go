package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const verifyLong = `Verify reads every byte that FILE's state names, checks it against its checksums, decodes every
turn, and prints what is wrong. It changes nothing. The exit code is 1 if anything is wrong.`

type verifyReport struct {
	File     string    `json:"file"`
	Turns    uint64    `json:"turns"`
	Bytes    int64     `json:"bytes"`
	Segments int       `json:"segments"`
	KeyRuns  int       `json:"key_runs"`
	Log      int       `json:"log_extents"`
	Seconds  float64   `json:"seconds"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Region string        `json:"region"`
	Offset *int64        `json:"offset,omitempty"` // absent: it lies nowhere in the file
	First  engine.TurnID `json:"first_turn,omitempty"`
	Turns  uint64        `json:"turns,omitempty"`
	Error  string        `json:"error"`
}

func verifyVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "verify FILE",
		SuggestFor: []string{"check"},
		Short:      "Check every byte, change none",
		Long:       verifyLong,
		Args:       arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd)
			defer stop()
			return reading(args[0], func(db *engine.DB) error {
				r, err := verify(ctx, db, args[0])
				if err != nil {
					return err
				}
				if err := show(cmd, asJSON, r); err != nil {
					return err
				}
				if len(r.Findings) > 0 {
					return errReported
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func verify(ctx context.Context, db *engine.DB, file string) (*verifyReport, error) {
	start := time.Now()
	r := &verifyReport{File: file, Findings: []finding{}}
	for f, err := range db.Verify(ctx) {
		if err != nil {
			return nil, err
		}
		x := finding{Region: f.Region, First: f.FirstID, Turns: f.Count, Error: oneLine(f.Err)}
		if f.Offset >= 0 {
			x.Offset = &f.Offset
		}
		r.Findings = append(r.Findings, x)
	}
	s := db.Stats()
	r.Turns, r.Bytes, r.Segments, r.KeyRuns, r.Log = s.Turns, s.FileBytes-s.FreeBytes, len(s.Segments), s.KeyRuns, len(s.Log)
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

func (r *verifyReport) text(w io.Writer) {
	for _, f := range r.Findings {
		switch {
		case f.Offset != nil && f.Turns > 0:
			fmt.Fprintf(w, "%s at offset %d, %s: %s\n", f.Region, *f.Offset, f.turns(), f.Error)
		case f.Offset != nil:
			fmt.Fprintf(w, "%s at offset %d: %s\n", f.Region, *f.Offset, f.Error)
		default:
			fmt.Fprintf(w, "%s: %s\n", f.turns(), f.Error)
		}
	}
	verdict := "nothing is wrong"
	if n := len(r.Findings); n > 0 {
		verdict = many(n, "finding")
	}
	fmt.Fprintf(w, "checked %s and %s in %s, %s and %s in %.2f s: %s\n", many(r.Turns, "turn"), many(r.Bytes, "byte"),
		many(r.Segments, "segment"), many(r.KeyRuns, "key run"), many(r.Log, "log extent"), r.Seconds, verdict)
}

func (f *finding) turns() string {
	if f.Turns == 1 {
		return fmt.Sprintf("turn #%d", f.First)
	}
	return fmt.Sprintf("turns #%d to #%d", f.First, uint64(f.First)+f.Turns-1)
}
