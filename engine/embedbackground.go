package engine

import (
	"context"
	"errors"
	"fmt"
)

// embedding lets one pass at a time make vectors, and ends it before the file is
// closed.
type embedding struct {
	token chan struct{} // holds one while nobody makes vectors
	poked chan struct{} // holds one when something was sealed since the last pass
	ctx   context.Context
	stop  context.CancelCauseFunc
}

func newEmbedding() embedding {
	e := embedding{token: make(chan struct{}, 1), poked: make(chan struct{}, 1)}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	e.token <- struct{}{}
	return e
}

// begin waits for the pass before. The context that it returns ends when the DB
// is closed; done lets the next pass begin.
func (e *embedding) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	select {
	case <-e.token:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	case <-e.ctx.Done():
		return nil, nil, ErrClosed
	}
	if e.ctx.Err() != nil {
		e.token <- struct{}{}
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(e.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		unhook()
		cancel(nil)
		e.token <- struct{}{}
	}, nil
}

// close ends the pass under way and waits for its end; none begins after it.
func (e *embedding) close() {
	e.stop(ErrClosed)
	<-e.token
	e.token <- struct{}{}
}

// poke says that something was sealed.
func (e *embedding) poke() {
	select {
	case e.poked <- struct{}{}:
	default:
	}
}

// embedSealed makes vectors in the background, at open and after each sealing,
// until the DB is closed. What fails is tried again after the next sealing, on
// a full disk after twice as many each time.
func (db *DB) embedSealed() {
	for full := 0; ; {
		r, err := db.embedPass(db.embedding.ctx, EmbedOptions{}, false)
		if full *= 2; !errors.Is(err, ErrNoSpace) {
			full = 0
		} else if full == 0 {
			full = 1
		}
		switch {
		case errors.Is(err, ErrClosed) || db.embedding.ctx.Err() != nil:
			return
		case err != nil:
			db.log.Warn("turns stay without vectors for now", "from", r.Committed, "err", err)
		case len(r.Refused) > 0:
			db.log.Warn("the model refuses turns; they stay without vectors", "turns", fmt.Sprint(r.Refused))
		}
		for range 1 + min(full, 64) { // on a full disk a pass pays for what it can't keep
			select {
			case <-db.embedding.poked:
			case <-db.embedding.ctx.Done():
				return
			}
		}
	}
}
