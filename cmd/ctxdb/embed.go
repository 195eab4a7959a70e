package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const embedLong = `Embed has a model make the vectors that turns of FILE lack, so that ctxdb search --embedder finds
what means the same in other words. The model gets the summary and the beginning of the content
of each turn, 64 at a time; --embedder names the endpoint. Only turns without a vector of this
model are sent, so it may be run again at any time. What was answered is kept: a pass that fails
or is interrupted goes on where it was. A turn of which a read fails is passed over and named, the
exit code is 1, and the next pass tries it again.

A key is read from the environment, and written nowhere.

Vectors of different models are never compared; --drop removes those of the model.`

type embedFlags struct {
	model  modelFlags
	bytes  int
	drop   bool
	asJSON bool
}

// embedReport says what a pass did.
type embedReport struct {
	File    string          `json:"file"`
	Model   string          `json:"model"`
	Dims    int             `json:"dimensions,omitempty"`
	Made    uint64          `json:"made"`
	Had     uint64          `json:"came_with_one"`
	Empty   uint64          `json:"without_text"`
	Damaged uint64          `json:"damaged"`
	Newer   uint64          `json:"by_newer_program"` // vectors, which are left alone
	Unread  []engine.TurnID `json:"unread"`           // a read of them failed; the next call tries them again
	Refused []engine.TurnID `json:"refused"`
	Dropped bool            `json:"dropped,omitempty"`
	Turns   uint64          `json:"turns"`   // of the file
	Covered uint64          `json:"covered"` // turns from the first on that have a vector as far as they can
}

func embedVerb() *cobra.Command {
	var f embedFlags
	cmd := &cobra.Command{
		Use:   "embed FILE --embedder URL --model NAME",
		Short: "Have a model make vectors of turns, for search",
		Long:  embedLong,
		Args:  arguments(1, 1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd)
			defer stop()
			r, err := f.run(ctx, cmd, args[0])
			if r == nil {
				return err
			}
			return errors.Join(err, show(cmd, f.asJSON, r))
		},
	}
	f.model.add(cmd)
	cmd.Flags().IntVar(&f.bytes, "text-bytes", 0, "the model gets at most `N` bytes of a turn (default 8192)")
	cmd.Flags().BoolVar(&f.drop, "drop", false, "remove the vectors that the model made; nothing is sent")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (f *embedFlags) run(ctx context.Context, cmd *cobra.Command, file string) (*embedReport, error) {
	if f.drop && f.model.url == "" && f.model.model != "" {
		f.model.url = "http://localhost" // nobody is asked
	}
	e, err := f.model.embedder(cmd)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return nil, usage(cmd, "embed needs --embedder and --model")
	case f.bytes < 0:
		return nil, usage(cmd, "--text-bytes %d; it is a number of bytes", f.bytes)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; `ctxdb import` and `ctxdb append` make one", file)
	}
	db, err := openWritingWith(file, &engine.Options{Embedder: e})
	if err != nil {
		return nil, err
	}
	r := &embedReport{File: file, Model: e.Model(), Unread: []engine.TurnID{}, Refused: []engine.TurnID{}}
	if f.drop {
		err = db.DropVectors(ctx, e.Model())
		if errors.Is(err, engine.ErrNotFound) {
			err = fmt.Errorf("%s: no vectors of model %q", file, e.Model())
		}
		r.Dropped = err == nil
	} else {
		err = f.pass(ctx, cmd.ErrOrStderr(), db, r)
	}
	r.Turns = db.Stats().Turns
	return r, errors.Join(err, db.Close())
}

func (f *embedFlags) pass(ctx context.Context, errOut io.Writer, db *engine.DB, r *embedReport) error {
	bars := &stages{w: errOut}
	did, err := db.Embed(ctx, engine.EmbedOptions{
		TextBytes: f.bytes,
		Progress:  func(done, of uint64) { bars.move("embed", int64(done), int64(of)) },
	})
	bars.done()
	r.Dims, r.Made, r.Had, r.Empty, r.Damaged = did.Dims, did.Made, did.Had, did.Empty, did.Damaged
	r.Newer = did.Foreign
	r.Refused = append(r.Refused, did.Refused...)
	r.Unread = append(r.Unread, did.Unread...)
	r.Covered = uint64(max(did.Committed, 1)) - 1
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; a later call goes on from here")
	case err != nil:
		return fmt.Errorf("%s: %w", db.Path(), err)
	}
	return nil
}

func (r *embedReport) text(w io.Writer) {
	if r.Dropped {
		fmt.Fprintf(w, "the vectors of %s are dropped\n", quoteName(r.Model))
		return
	}
	made := many(r.Made, "vector")
	if r.Dims > 0 {
		made += " of " + many(r.Dims, "dimension")
	}
	fmt.Fprintf(w, "%s by %s; %s of %s covered", made, quoteName(r.Model), count(r.Covered), many(r.Turns, "turn"))
	for _, part := range []struct {
		n    uint64
		what string
	}{{r.Had, "came with one"}, {r.Empty, "without text"}, {r.Damaged, "damaged"}} {
		if part.n > 0 {
			fmt.Fprintf(w, "; %s %s", count(part.n), part.what)
		}
	}
	fmt.Fprintln(w)
	if r.Newer > 0 {
		fmt.Fprintf(w, "%s by a newer ctxdb, which this one can't search, left alone; --drop removes them\n", many(r.Newer, "vector"))
	}
	if n := len(r.Refused); n > 0 {
		fmt.Fprintf(w, "the model refuses %s: %s\n", many(n, "turn"), firstOf(r.Refused))
	}
	if n := len(r.Unread); n > 0 {
		fmt.Fprintf(w, "%s can't be read now, and will be tried again: %s\n", many(n, "turn"), firstOf(r.Unread))
	}
}

// firstOf names turns, the first of many.
func firstOf(ids []engine.TurnID) string {
	names := make([]string, 0, 11)
	for _, id := range ids[:min(len(ids), 10)] {
		names = append(names, fmt.Sprintf("#%d", id))
	}
	if len(ids) > len(names) {
		names = append(names, "...")
	}
	return strings.Join(names, " ")
}
