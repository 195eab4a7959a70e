package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ctxdb/engine/vec"
	"ctxdb/format"
)

const (
	embedTexts   = 64               // that an Embedder gets at once
	embedText    = 8 << 10          // of a turn's summary and content, in bytes
	leastText    = 256              // a refused text is halved down to about this
	mostRefused  = 8                // texts in a row, until it is asked whose fault that is
	commitTurns  = 1024             // that are looked at before their vectors are committed
	commitBytes  = 1 << 20          // of vectors, or before so many are waiting
	lookInterval = 256              // turns between two looks at the context
	mostHoles    = 256              // stretches of unread turns in a pass, until that is the disk's fault
	longWait     = 10 * time.Minute // for a batch of texts, retries included
)

// EmbedOptions of DB.Embed. The zero value of each field is its default.
type EmbedOptions struct {
	// TextBytes is what the model gets of a turn's summary and content, the
	// beginning; 0: 8 KiB. It is halved by itself where the model refuses that
	// much.
	TextBytes int
	// Progress is called after each answer of the model, with the number of turns
	// that were looked at and of those that there are. It must not close the DB,
	// which waits for the pass.
	Progress func(done, of uint64)
}

// EmbedReport says what DB.Embed did.
type EmbedReport struct {
	Model     string
	Dims      int      // of its vectors; 0: none was made
	Made      uint64   // vectors; in the file up to Committed
	Empty     uint64   // turns without a text, and records of role meta
	Had       uint64   // turns that came with a vector of this model
	Refused   []TurnID // the model does not take their text; they stay without, and are not tried again
	Unread    []TurnID // a read of them failed, and not for damage; the next pass tries them again
	Damaged   uint64   // turns that are damaged, or damaged runs of vectors that were made again
	Foreign   uint64   // vectors of this model that a newer program made; they and their turns are left alone
	Committed TurnID   // every turn below it that can have a vector of this model has one
}

// Embed has Options.Embedder make the vectors that turns lack: of each turn's
// summary and content. It puts the log away first, works beside
// appends and searches, and commits every 1,024 turns or 1 MiB of vectors; what
// was committed is durable, and a later call goes on behind it. Turns that are
// appended meanwhile are left for the next time. One pass runs at a time; a second
// waits.
//
// Errors: those of the Embedder (nothing that was committed is lost), ErrNoSpace,
// ErrBroken, ErrReadOnly, ErrClosed, the context's. Where reads failed, the first
// of their errors, after all other turns got their vectors; only a disk that fails
// in hundreds of places ends the pass. The report is right with an error too.
func (db *DB) Embed(ctx context.Context, o EmbedOptions) (EmbedReport, error) {
	return db.embedPass(ctx, o, true)
}

func (db *DB) embedPass(ctx context.Context, o EmbedOptions, sealFirst bool) (r EmbedReport, err error) {
	fail := func(err error) (EmbedReport, error) { return r, fmt.Errorf("embed: %w", err) }
	if err := db.writable(); err != nil {
		return fail(err)
	}
	if r.Model, err = modelOf(db.opts.Embedder); err != nil {
		return fail(err)
	}
	ctx, done, err := db.embedding.begin(ctx)
	if err != nil {
		return fail(err)
	}
	defer done()
	if err := db.writable(); err != nil {
		return fail(err)
	}
	if sealFirst && len(db.view.Load().logs) > 0 {
		if err := db.Checkpoint(ctx); err != nil {
			return fail(err)
		}
	}
	p := &embedRun{db: db, ctx: ctx, o: o, r: &r, end: db.view.Load().sealedEnd(), limit: o.TextBytes}
	setDefault(&p.limit, embedText)
	p.limit = max(p.limit, leastText)
	if err := p.run(); err != nil {
		return fail(err)
	}
	return r, nil
}

// sealedEnd is one more than the last id that a segment holds. Ids above may be
// given again after a crash, as far as they were never synced.
func (v *view) sealedEnd() uint64 {
	if len(v.segs) == 0 {
		return 1
	}
	return v.segs[len(v.segs)-1].Entry().EndID()
}

// embedRun makes the vectors that are missing below end.
type embedRun struct {
	db  *DB
	ctx context.Context
	o   EmbedOptions
	r   *EmbedReport
	end uint64

	limit   int          // of a text, in bytes
	refusal error        // the last one
	inARow  int          // refused texts since one was taken
	dims    int          // of the model's vectors; 0: not known yet
	from    uint64       // first turn of what waits for its commit
	next    uint64       // one more than the last of which all is known
	taken   string       // a text that the model took
	failed  error        // the first read that failed
	holes   int          // stretches of turns that can't be read
	waiting []vec.Vector // of those turns, counted from from
	bytes   int
}

func (p *embedRun) run() error {
	if err := p.inspect(); err != nil {
		return err
	}
	for done := uint64(1); ; {
		from, to := p.gap(done)
		if from >= to {
			break
		}
		if err := p.fill(from, to); err != nil {
			p.r.Committed = TurnID(p.covered())
			return err
		}
		done = to
	}
	p.r.Committed = TurnID(p.covered())
	return p.failed
}

func (p *embedRun) own() []format.VectorEntry {
	return vectorsOfModel(p.db.view.Load().root.Vectors, p.r.Model)
}

// inspect reads the model's runs, learns their dimension, and drops what is
// damaged, so that it is made again.
func (p *embedRun) inspect() error {
	var bad []format.VectorEntry
	for _, r := range p.db.view.Load().vectors {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		e := r.Entry()
		if e.Model != format.Hash([]byte(p.r.Model)) {
			continue
		}
		err := r.soundOnce()
		if isDamage(err) && !isRetired(err) {
			p.db.log.Warn("vectors are damaged and made again", "offset", e.Offset, "from", e.FirstID, "to", e.EndID, "err", err)
			bad = append(bad, e)
			continue
		}
		p.dims = max(p.dims, int(e.Dims))
		switch {
		case isRetired(err), err == nil:
		case errors.Is(err, ErrVersion):
			p.db.log.Info("vectors of a newer program are left alone", "offset", e.Offset, "from", e.FirstID, "to", e.EndID, "err", err)
			p.r.Foreign += uint64(e.Vectors)
		case p.failed == nil:
			p.failed = fmt.Errorf("the vectors of #%d to #%d: %w", e.FirstID, e.EndID-1, err)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	p.r.Damaged += uint64(len(bad))
	return p.db.publishVectors(p.ctx, false, func(old []format.VectorEntry) []format.VectorEntry {
		return slices.DeleteFunc(old, func(e format.VectorEntry) bool { return slices.Contains(bad, e) })
	})
}

// gap is the first range of turns, from one on, that no run of the model covers.
func (p *embedRun) gap(after uint64) (from, to uint64) {
	from = after
	for _, e := range p.own() {
		if e.FirstID > from {
			return from, min(e.FirstID, p.end)
		}
		from = max(from, e.EndID)
	}
	return from, max(p.end, from)
}

// covered is one more than the last of the turns from 1 on that runs cover.
func (p *embedRun) covered() uint64 {
	from, _ := p.gap(1)
	return from
}
