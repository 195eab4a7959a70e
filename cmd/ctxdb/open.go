package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

// reading runs f with the file opened read-only.
func reading(path string, f func(db *engine.DB) error) error {
	return readingWith(path, &engine.Options{}, f)
}

// readingWith is reading under options.
func readingWith(path string, o *engine.Options, f func(db *engine.DB) error) error {
	o.ReadOnly = true
	db, err := engine.Open(path, o)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file; `ctxdb import` and `ctxdb append` make one", path)
	}
	if err != nil {
		return explain(path, err)
	}
	return errors.Join(f(db), db.Close())
}

// openWriting opens the file for writing, making it if there is none.
func openWriting(path string) (*engine.DB, error) { return openWritingWith(path, nil) }

func openWritingWith(path string, o *engine.Options) (*engine.DB, error) {
	db, err := engine.Open(path, o)
	if place := placeError(path, err); place != nil {
		return db, place
	}
	return db, explain(path, err)
}

// explain says errors of Open in words of the command line: what its user can do, and not
// what a caller of the engine can. Which error it is stays known.
func explain(path string, err error) error {
	var locked *engine.LockedError
	var unwritable *engine.UnwritableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &locked):
		return said(err, "%s: locked by another writer%s; wait for its end or stop it; verbs that only read work beside it", path, locked.Holder())
	case errors.As(err, &unwritable) && errors.Is(err, engine.ErrVersion):
		return said(err, "%s: %v; verbs that only read work; get a newer ctxdb to write", path, unwritable.Err)
	case errors.As(err, &unwritable):
		return said(err, "%s: can't be written: %v; verbs that only read work", path, bare(unwritable.Err))
	case errors.Is(err, engine.ErrEmpty):
		return said(err, "%s: is empty; `ctxdb import` and `ctxdb append` begin a file in it", path)
	case errors.Is(err, syscall.EISDIR):
		return said(err, "%s: is a directory; name a file in it", path)
	case errors.Is(err, engine.ErrVersion):
		return fmt.Errorf("%w; get a newer ctxdb", err)
	case errors.Is(err, fs.ErrPermission):
		return said(err, "%s: permission denied; the file and its folder must be yours to read", path)
	}
	return err
}

// inOtherWords is an error whose text is the command line's.
type inOtherWords struct {
	error
	text string
}

func (e *inOtherWords) Error() string { return e.text }
func (e *inOtherWords) Unwrap() error { return e.error }

func said(err error, format string, args ...any) error {
	return &inOtherWords{err, fmt.Sprintf(format, args...)}
}

// interruptible is the command's context, done at the first Ctrl-C or SIGTERM. A
// second one ends the process as usual.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// parseID reads 42 or #42.
func parseID(cmd *cobra.Command, text string) (engine.TurnID, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 64)
	if err != nil || id == 0 {
		return 0, usage(cmd, "%q is no turn; turns are named 42 or #42", text)
	}
	return engine.TurnID(id), nil
}

// idFlag is a flag that takes a turn.
type idFlag engine.TurnID

func (f *idFlag) String() string {
	if *f == 0 {
		return ""
	}
	return "#" + strconv.FormatUint(uint64(*f), 10)
}

func (f *idFlag) Set(text string) error {
	id, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 64)
	if err != nil || id == 0 {
		return fmt.Errorf("%q is no turn; turns are named 42 or #42", text)
	}
	*f = idFlag(id)
	return nil
}

func (f *idFlag) Type() string { return "ID" }

// absent says which turns there are instead of the one that was not found.
func absent(db *engine.DB, id engine.TurnID, err error) error {
	if !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	last := db.Stats().NextID - 1
	if last == 0 {
		return fmt.Errorf("%s: turn #%d: %w; the file holds no turns", db.Path(), id, engine.ErrNotFound)
	}
	return fmt.Errorf("%s: turn #%d: %w; the file holds #1 to #%d", db.Path(), id, engine.ErrNotFound, last)
}

// inThread reports whether a thread is the one asked for, or one inside it.
func inThread(thread, asked string) bool {
	return asked == "" || thread == asked || strings.HasPrefix(thread, asked+"/")
}
