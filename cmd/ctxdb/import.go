package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
)

const importLong = `Import takes transcripts of coding agents into FILE, which is made if there is none.
A TRANSCRIPT of - is stdin. Formats are recognised by content: Claude Code sessions, Codex
rollouts, lines of {"role","content"}, and what ctxdb export --format jsonl writes.

Turns that the file has already are not added again, so a transcript that has grown may be
imported again at any time. Ctrl-C leaves what was committed so far.

A record that is not understood is named with its line on stderr and kept as it is: nothing is
lost, export gives it back. The exit code is 1 where something of a TRANSCRIPT is not in FILE:
a last record that is cut off, one above 256 MiB (268,435,456 bytes), one whose key has other
content in FILE. That is named and left out, and the rest is imported.`

func importVerb() *cobra.Command {
	var asJSON, verbose bool
	cmd := &cobra.Command{
		Use:   "import FILE TRANSCRIPT...",
		Short: "Take transcripts in",
		Long:  importLong,
		Args:  arguments(2, -1, "FILE and at least one TRANSCRIPT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkNames(cmd, args[1:]); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			r, err := importAll(ctx, cmd, args[0], args[1:])
			if r == nil {
				return err
			}
			if !asJSON {
				r.complain(cmd.ErrOrStderr(), verbose)
			}
			err = errors.Join(err, show(cmd, asJSON, r))
			if err == nil && r.isIncomplete() {
				err = errReported
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "name everything that is odd or left out, not only the first 20")
	return cmd
}

// checkNames refuses transcripts that can be none.
func checkNames(cmd *cobra.Command, names []string) error {
	stdin := 0
	for _, name := range names {
		switch name {
		case "":
			return usage(cmd, "the name of a transcript is empty")
		case "-":
			stdin++
		}
	}
	if stdin > 1 {
		return usage(cmd, "-: stdin can be imported only once")
	}
	return nil
}

// importAll imports one transcript after the other. The report, nil if nothing was begun,
// stands beside an error too: it says what was committed before.
func importAll(ctx context.Context, cmd *cobra.Command, file string, names []string) (*importReport, error) {
	im := &importer{path: file}
	if _, err := os.Stat(file); err == nil { // else nothing is made before there are turns
		if err := im.open(); err != nil {
			return nil, swapped(err)
		}
	}
	total, err := measure(cmd.InOrStdin(), names)
	if err != nil {
		return nil, im.close(err)
	}
	im.progress = newProgress(cmd.ErrOrStderr(), "import", total, true)
	r := &importReport{File: file, Transcripts: make([]transcriptReport, 0, len(names))}
	for _, name := range names {
		t := newTranscriptReport(name)
		err = im.transcript(ctx, cmd.InOrStdin(), &t)
		r.add(t)
		if err != nil {
			break
		}
	}
	im.progress.done()
	if err == nil && im.db == nil && len(r.remarks()) == 0 {
		err = im.open() // an empty transcript makes an empty file
	}
	return r, im.close(err)
}

// swapped says which name comes first, where the first one names something else.
func swapped(err error) error {
	if errors.Is(err, engine.ErrNotCtxdb) && !errors.Is(err, engine.ErrEmpty) {
		return fmt.Errorf("%w; FILE comes first, then the transcripts", err)
	}
	return err
}

// measure checks that every transcript is there, and adds up their bytes; -1: unknown.
func measure(in io.Reader, names []string) (total int64, err error) {
	for _, name := range names {
		size := int64(-1)
		if name == "-" {
			if f, ok := in.(*os.File); ok {
				if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
					size = fi.Size()
				}
			}
		} else {
			fi, err := os.Stat(name)
			if err != nil {
				return 0, transcriptError(name, err)
			}
			if fi.IsDir() {
				return 0, fmt.Errorf("%s: is a directory; name the transcripts in it", name)
			}
			if fi.Mode().IsRegular() {
				size = fi.Size()
			}
		}
		if size < 0 || total < 0 {
			total = -1
			continue
		}
		total += size
	}
	return total, nil
}

func transcriptError(name string, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: no such transcript; nothing was imported", name)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s: permission denied; nothing was imported from it", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// transcript imports one. What is wrong with it alone goes into its report; the error is
// one that ends the whole import.
func (im *importer) transcript(ctx context.Context, in io.Reader, t *transcriptReport) error {
	src, closeSrc, err := source(ctx, in, t.Name)
	if err != nil {
		t.Failed = oneLine(transcriptError(t.Name, err))
		return nil
	}
	defer closeSrc()
	im.lines = &lineIndex{src: im.progress.reader(src)}
	im.report = t
	reader := transcript.NewReader(im.lines, transcript.Options{OnLeftOut: im.unreadable})
	for {
		turn, err := reader.Next()
		if ctx.Err() != nil {
			return im.interrupted()
		}
		t.Format, t.Bytes = reader.Format(), reader.Offset()
		if err == io.EOF {
			return im.flush(ctx)
		}
		if err != nil {
			t.Failed = fmt.Sprintf("%s: %s", t.Name, oneLine(err))
			return im.flush(ctx)
		}
		if err := im.take(ctx, turn, reader.Offset()); err != nil {
			return err
		}
	}
}

func source(ctx context.Context, in io.Reader, name string) (io.Reader, func(), error) {
	if name == "-" {
		return newPatientReader(ctx, in), func() {}, nil
	}
	f, err := openInput(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}

// interrupted says how to go on. The batch that was being collected is dropped.
func (im *importer) interrupted() error {
	im.batch, im.batchBytes = nil, 0
	if im.db == nil {
		return errors.New("interrupted; nothing was imported")
	}
	return fmt.Errorf("interrupted; what was imported so far is in %s: run the same command again to go on", im.path)
}

func (im *importer) open() error {
	db, err := openWriting(im.path)
	if err == nil {
		im.db = db
	}
	return err
}

// close makes sure that nothing is said to be imported that Close could not put away.
func (im *importer) close(err error) error {
	if im.db == nil {
		return err
	}
	return errors.Join(err, im.db.Close())
}

// engineTurn is a transcript's turn as the engine takes it. Ids of an exporting file mean
// nothing here; the reader has made keys of them.
func engineTurn(t transcript.Turn) engine.Turn {
	return engine.Turn{
		Key: t.Key, Thread: t.Thread, Role: t.Role, Time: t.Time, Tokens: t.Tokens,
		Content: t.Content, Source: t.Source, Summary: t.Summary, Entities: t.Entities, Tags: t.Tags,
		Decision: t.Decision, ReplyKey: t.ReplyKey, Embedding: t.Embedding, EmbeddingModel: t.EmbeddingModel,
	}
}
