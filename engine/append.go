package engine

import (
	"context"
	"errors"
	"fmt"

	"ctxdb/format"
	"ctxdb/wal"
)

// Append adds turns as one atomic batch: all of them or none, with consecutive
// ids in their order. It returns their ids; a turn whose key and content the
// file has already gets the id of the first one.
//
// With the default sync policy the turns are durable on return. ctx is obeyed
// until the batch is laid out for its commit, and not after.
//
// Errors: ErrTooLarge, ErrKeyExists, ErrNotFound (ReplyTo or ReplyKey names no
// earlier turn), ErrNoSpace: nothing was written. Where one turn is to blame,
// the error is a *BatchError that says which. ErrBroken: a write or sync
// failed; whether this batch was kept is known after the next Open. ErrCorrupt:
// damage leaves it open whether the file has a key already. Content
// and other slices are read until Append returns and not kept.
func (db *DB) Append(ctx context.Context, turns ...Turn) ([]TurnID, error) {
	if err := db.writable(); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	if len(turns) == 0 {
		return nil, nil
	}
	b := &batch{ctx: ctx, turns: turns, done: make(chan struct{})}
	if err := db.prepare(b); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	db.queue.push(b)
	select {
	case <-b.done:
	case <-db.leader:
		db.lead(b)
		db.leader <- struct{}{}
	case <-ctx.Done():
		if db.queue.withdraw(b) {
			return nil, fmt.Errorf("append: %w", context.Cause(ctx))
		}
	}
	// A leader that fails to take the batch is followed by another.
	for {
		select {
		case <-b.done:
			if b.err != nil {
				return nil, fmt.Errorf("append: %w", b.err)
			}
			return b.ids, nil
		case <-db.leader:
			db.lead(b)
			db.leader <- struct{}{}
		}
	}
}

// prepare checks what needs no look at the file, and counts tokens.
func (db *DB) prepare(b *batch) error {
	counted := false
	for i := range b.turns {
		t := &b.turns[i]
		if t.Tokens == 0 && len(t.Content) > 0 && !counted {
			b.turns = append([]Turn(nil), b.turns...) // the caller's turns stay as they are
			t, counted = &b.turns[i], true
		}
		if t.Tokens == 0 && len(t.Content) > 0 {
			t.Tokens = db.opts.Tokenizer(t.Content)
		}
		if t.Tokens < 0 {
			return &BatchError{i, fmt.Errorf("%d tokens; it is a number from 0", t.Tokens)}
		}
		s := t.stored()
		if err := s.Validate(); err != nil {
			return &BatchError{i, err}
		}
		if t.ReplyTo != 0 && t.ReplyKey != "" {
			return &BatchError{i, errors.New("both ReplyTo and ReplyKey are set")}
		}
		b.size += int64(metaBound(t)) + int64(len(t.Content)) + int64(len(t.Source))
	}
	if b.size > format.MaxBatch {
		return fmt.Errorf("%w: a batch of %d bytes, the limit is %d", ErrTooLarge, b.size, format.MaxBatch)
	}
	return nil
}

// metaBound is at least the length of a turn's meta part and its length prefix.
func metaBound(t *Turn) int {
	n := 128 + len(t.Role) + len(t.Thread) + len(t.Key) + len(t.Summary) + 4*len(t.Embedding) + len(t.EmbeddingModel)
	for _, s := range t.Entities {
		n += len(s) + 5
	}
	for _, s := range t.Tags {
		n += len(s) + 5
	}
	return n
}

// group is the batches whose frames one write and one sync carry.
type group struct {
	batches []*batch
	laid    []*laid
	logged  []logged
	keys    map[string]uint64 // of turns laid out, not yet visible
	bytes   int64
}

// lead commits what is in the queue until its own batch is done. Batches that
// arrive while it syncs form the next group, which has another leader: nobody
// waits for more than what came before him.
//
// REQUIRES: the leader token is held.
func (db *DB) lead(own *batch) {
	var g group
	for !own.finished() {
		b := db.queue.pop()
		if b == nil {
			break
		}
		if err := db.place(&g, b); err != nil {
			b.finish(err)
		}
	}
	db.commit(&g)
}

// place lays a batch out in the group's frame space. It commits the group and
// makes room first where that is needed.
func (db *DB) place(g *group, b *batch) error {
	if err := db.writable(); err != nil {
		return err
	}
	if err := b.ctx.Err(); err != nil {
		return context.Cause(b.ctx)
	}
	l, err := db.layOut(g, b)
	if err != nil {
		return err
	}
	if len(l.turns) == 0 { // all of it is in the file, or in this group
		b.ids = l.ids
		g.batches = append(g.batches, b)
		return nil
	}
	if l.size > db.largestFrame() {
		db.commit(g)
		return db.placeLarge(b)
	}
	if err := db.stage(g, l); !errors.Is(err, wal.ErrFull) {
		return err
	}
	db.commit(g)
	if err := db.writable(); err != nil {
		return err
	}
	// Ids and keys may have changed hands with the group's outcome.
	if l, err = db.layOut(g, b); err != nil {
		return err
	}
	if l.size > db.largestFrame() {
		return db.placeLarge(b)
	}
	if err := db.makeRoom(b.ctx, l.size); err != nil {
		return err
	}
	if err := b.ctx.Err(); err != nil { // making room may take long
		return context.Cause(b.ctx)
	}
	return db.stage(g, l)
}

// largestFrame: at least two frames of it fit into the largest log extent.
func (db *DB) largestFrame() int64 { return wal.Capacity(db.opts.LogBytes) / 2 }

// stage lays the frame of a batch into the log's group buffer.
func (db *DB) stage(g *group, l *laid) error {
	if db.wal == nil || l.size > db.wal.Room() {
		return wal.ErrFull
	}
	if len(g.laid) == 0 {
		db.wal.Reserve(min(format.FrameSize(int(l.size))+db.queue.pending(), 1<<20))
	}
	at := db.wal.Extent().Offset + format.LogEdge + db.wal.Used()
	_, payload, err := db.wal.Stage(db.synced, l.first, uint64(len(l.turns)), int(l.size), l.payload)
	if err != nil {
		return err
	}
	g.bytes += format.FrameSize(len(payload))
	g.logged = append(g.logged, l.slice(payload, at)...)
	g.laid = append(g.laid, l)
	g.batches = append(g.batches, l.batch)
	l.batch.ids = l.ids
	db.nextID += uint64(len(l.turns))
	if g.keys == nil {
		g.keys = map[string]uint64{}
	}
	for k, id := range l.keys {
		g.keys[k] = id
	}
	return nil
}

// commit writes the group, syncs it, makes it visible, and tells the callers.
func (db *DB) commit(g *group) {
	if len(g.batches) == 0 {
		return
	}
	err := db.persist(g)
	if err == nil && len(g.logged) > 0 {
		db.show(g) // first: a promise that fails puts away what is shown
		if db.opts.Sync == SyncAlways {
			// Readers in other processes show what a promise covers; with it,
			// what is acknowledged is visible everywhere. Its failure ends the
			// log's use, and the next append says so.
			_ = db.leavePromise()
		}
	}
	for _, b := range g.batches {
		b.finish(err)
	}
	*g = group{}
}

// persist is the commit point of a group: on return its frames are as durable
// as the policy says, or the group failed as a whole.
func (db *DB) persist(g *group) error {
	if len(g.laid) == 0 {
		return db.confirmFound()
	}
	err := db.file.Check()
	if err != nil {
		db.wal.Discard()
		return db.breakOff(err)
	}
	if err := db.wal.Write(); err != nil {
		return db.writeFailed(err)
	}
	db.unsynced = true
	if db.opts.Sync != SyncAlways {
		return nil
	}
	return db.syncLog()
}

// syncLog makes every frame that was written durable.
func (db *DB) syncLog() error {
	if !db.unsynced && !db.witness {
		return nil
	}
	upTo := db.wal.Next() - 1
	if err := db.sync(); err != nil {
		return err
	}
	db.synced, db.unsynced, db.witness = upTo, false, false
	return nil
}

// writeFailed ends the use of the log's salt. On a full disk the committed
// turns are put away, so that appending works again when there is space;
// anything else breaks the DB.
func (db *DB) writeFailed(cause error) error {
	db.nextID = db.view.Load().nextID
	if !isNoSpace(cause) {
		return db.breakOff(fmt.Errorf("write: %w", cause))
	}
	err := db.waitSealed(context.Background())
	if err == nil {
		err = db.putAway(nil)
	}
	if err != nil {
		return db.breakOff(errors.Join(cause, err))
	}
	return fmt.Errorf("%w (%w)", ErrNoSpace, cause)
}

// show makes the turns of a committed group visible.
func (db *DB) show(g *group) {
	db.keys.add(g.keys)
	r := db.current
	r.turns = append(r.turns, g.logged...)
	r.bytes += g.bytes
	shown := *r
	shown.turns = r.turns[:len(r.turns):len(r.turns)]
	next := db.nextID
	db.changeView(func(v *view) {
		logs := append([]run(nil), v.logs...)
		if n := len(logs); n > 0 && logs[n-1].first == shown.first {
			logs[n-1] = shown
		} else {
			logs = append(logs, shown)
		}
		v.logs, v.nextID = logs, next
	})
}
