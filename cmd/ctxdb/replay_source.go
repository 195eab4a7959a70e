package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"ctxdb/cache/replay"
	"ctxdb/cmd/ctxdb/internal/sessionrefs"
	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
)

// load reads the references, and begins the report.
func (f *replayFlags) load(ctx context.Context, in io.Reader, args []string) (r *replayReport, t *replay.Trace, err error) {
	r = &replayReport{Groups: []replayGroup{}}
	switch {
	case f.model:
		r.Source = fmt.Sprintf("the locality model, seed %d", f.seed)
		t, err = replay.PublishedModel(f.seed).Trace()
	case f.trace != "":
		r.path, r.Source = f.trace, "trace "+displayName(f.trace)
		err = withInput(ctx, f.trace, in, func(src io.Reader) (err error) {
			t, err = replay.Read(displayName(f.trace), src)
			return err
		})
	case f.session != "":
		r.path, r.Source = f.session, "session "+displayName(f.session)
		t, err = sessionTrace(ctx, f.session, in)
	default:
		r.path = args[0]
		err = reading(args[0], func(db *engine.DB) (err error) {
			t, err = recordedTrace(db, f.window, r)
			return err
		})
	}
	if err != nil {
		return nil, nil, err
	}
	r.describe(t)
	if r.Recalls == 0 {
		return nil, nil, fmt.Errorf("%s: nothing in it is referred to a second time", r.Source)
	}
	return r, t, nil
}

func withInput(ctx context.Context, name string, in io.Reader, f func(src io.Reader) error) error {
	if name == "-" {
		return f(in)
	}
	src, err := openInput(ctx, name)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such file", name)
	}
	if err != nil {
		return err
	}
	defer src.Close()
	return f(src)
}

// sessionTrace infers references from a transcript, or from a file of ctxdb's.
func sessionTrace(ctx context.Context, name string, in io.Reader) (*replay.Trace, error) {
	short := filepath.Base(displayName(name))
	if name != "-" {
		db, err := engine.Open(name, &engine.Options{ReadOnly: true})
		if err == nil {
			t, err := extract(short, fileRecords(ctx, db))
			return t, errors.Join(err, db.Close())
		}
		if !errors.Is(err, engine.ErrNotCtxdb) {
			return nil, explain(name, err)
		}
	}
	var t *replay.Trace
	err := withInput(ctx, name, in, func(src io.Reader) (err error) {
		t, err = extract(short, transcriptRecords(ctx, src))
		return err
	})
	return t, err
}

// extract is sessionrefs.Extract for records that may fail.
func extract(name string, records iter.Seq2[sessionrefs.Record, error]) (t *replay.Trace, err error) {
	t = sessionrefs.Extract(name, func(yield func(sessionrefs.Record) bool) {
		for r, rerr := range records {
			if rerr != nil {
				err = fmt.Errorf("%s: %w", name, rerr)
				return
			}
			if !yield(r) {
				return
			}
		}
	})
	return t, err
}

func transcriptRecords(ctx context.Context, src io.Reader) iter.Seq2[sessionrefs.Record, error] {
	return func(yield func(sessionrefs.Record, error) bool) {
		for reader := transcript.NewReader(src, transcript.Options{}); ; {
			t, err := reader.Next()
			if err == nil {
				err = ctx.Err()
			}
			if err == io.EOF || !yield(sessionrefs.FromTranscript(t), err) || err != nil {
				return
			}
		}
	}
}

// fileRecords are the turns of a file. One that can't be read ends them.
func fileRecords(ctx context.Context, db *engine.DB) iter.Seq2[sessionrefs.Record, error] {
	return func(yield func(sessionrefs.Record, error) bool) {
		for t, err := range db.Sources(0, 0) {
			if err == nil {
				err = ctx.Err()
			}
			r := sessionrefs.Record{Thread: t.Thread, Role: t.Role, Content: t.Content, Source: t.Source, Key: strconv.FormatUint(uint64(t.ID), 10)}
			if t.ReplyTo != 0 {
				r.ReplyTo = strconv.FormatUint(uint64(t.ReplyTo), 10)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
