package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
)

// A batch of about this size is one segment of its own: it goes around the log.
const (
	batchBytes = 4 << 20
	batchTurns = 8192
)

// importer collects turns into batches and appends them.
type importer struct {
	path       string
	db         *engine.DB // nil until there is something to append
	progress   *progress
	lines      *lineIndex
	report     *transcriptReport // of the transcript being read
	batch      []pending
	batchBytes int
}

// pending is a turn on its way, and where it stood.
type pending struct {
	turn engine.Turn
	line int
}

func (im *importer) unreadable(l transcript.LeftOut) {
	im.report.note(oddity{Line: l.Line, Offset: l.Offset, Bytes: l.Bytes, Reason: l.Reason, kept: l.Kept})
}

// take adds a turn that ends at that offset of the transcript. It appends the batch first
// where the turn would make it too large.
func (im *importer) take(ctx context.Context, t transcript.Turn, end int64) error {
	size := len(t.Content) + len(t.Source)
	if len(im.batch) == batchTurns || len(im.batch) > 0 && im.batchBytes+size > batchBytes {
		if err := im.flush(ctx); err != nil {
			return err
		}
	}
	// A record may have line breaks in it. It is named by its first line.
	line := im.lines.at(end) - bytes.Count(bytes.TrimLeft(t.Source, " \r\n\t"), []byte{'\n'})
	im.batch = append(im.batch, pending{engineTurn(t), max(line, 1)})
	im.batchBytes += size
	return nil
}

// flush appends the batch that was collected.
func (im *importer) flush(ctx context.Context) error {
	batch := im.batch
	im.batch, im.batchBytes = nil, 0
	if len(batch) == 0 {
		return nil
	}
	if im.db == nil {
		if err := im.open(); err != nil {
			return err
		}
	}
	return im.append(ctx, batch)
}

// append adds a batch. A turn that can't be added is left out, and all others are kept,
// in their order. Behind such a turn it goes on in small steps: what follows it is often
// of its kind, and a failed append is paid for by the turns that it looked at.
func (im *importer) append(ctx context.Context, batch []pending) error {
	const step = 64
	for size := len(batch); len(batch) > 0; {
		size = min(size, len(batch))
		bad, err := im.try(ctx, batch[:size])
		switch {
		case err == nil:
			batch, size = batch[size:], 2*max(size, step)
		case ctx.Err() != nil:
			return im.interrupted()
		case !isAboutTurn(err):
			if place := placeError(im.path, err); place != nil {
				return fmt.Errorf("%w; the same command goes on from there", place)
			}
			return fmt.Errorf("%s: %w", im.path, err)
		case bad > 0:
			size = bad // those before it, first
		case im.leaveOut(&batch[0], err):
			size = step
		default:
			batch, size = batch[1:], step
		}
	}
	return nil
}

// try appends turns, all or none. bad is the place of the one that is to blame.
func (im *importer) try(ctx context.Context, batch []pending) (bad int, err error) {
	turns := make([]engine.Turn, len(batch))
	for i := range batch {
		turns[i] = batch[i].turn
	}
	before := im.db.Stats().NextID
	ids, err := im.db.Append(ctx, turns...)
	if err == nil {
		im.added(before, ids)
		return 0, nil
	}
	var e *engine.BatchError
	if errors.As(err, &e) {
		return e.Index, err
	}
	return len(batch) / 2, err // all of them together are too large
}

// added counts: a turn that was there already has an id from before, or that of an
// earlier turn of its batch.
func (im *importer) added(next engine.TurnID, ids []engine.TurnID) {
	for _, id := range ids {
		if id < next {
			im.report.Present++
			continue
		}
		im.report.Imported++
		next = id + 1
	}
}

// isAboutTurn reports whether an append failed for what one of its turns is.
func isAboutTurn(err error) bool {
	return errors.Is(err, engine.ErrKeyExists) || errors.Is(err, engine.ErrTooLarge) ||
		errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrForgotten)
}

// leaveOut reports a turn that can't be added. One that only answers a turn that was left
// out loses that link, and is worth another try.
func (im *importer) leaveOut(p *pending, err error) (again bool) {
	o := oddity{Line: p.line, Bytes: int64(len(p.turn.Content)), Key: p.turn.Key, Reason: reason(err)}
	if errors.Is(err, engine.ErrNotFound) && p.turn.ReplyKey != "" {
		again = true
		o.Reason = fmt.Sprintf("taken in without its link to %q, which is not in the file", p.turn.ReplyKey)
		p.turn.ReplyKey = ""
	}
	im.report.note(o)
	return again
}

// reason is an error of Append without what only a caller of the engine knows.
func reason(err error) string {
	var e *engine.BatchError
	if errors.As(err, &e) {
		err = e.Err
	}
	return strings.TrimPrefix(oneLine(err), "append: ")
}
