package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ctxdb/wal"
)

// Checkpoint puts everything that is logged away into segments and publishes a
// state without log. It returns when that is durable. ctx is obeyed until the
// sealing begins, and not after. Errors: ErrNoSpace, ErrBroken, ErrReadOnly,
// ErrClosed.
func (db *DB) Checkpoint(ctx context.Context) error {
	return db.lead1(ctx, "checkpoint", func() error {
		if err := db.waitSealed(ctx); err != nil {
			return err
		}
		if err := db.putAway(nil); err != nil {
			return err
		}
		return db.confirm()
	})
}

// Sync makes every append that returned durable. With the default policy they
// are already. Errors: ErrBroken, ErrNoSpace, ErrReadOnly, ErrClosed.
func (db *DB) Sync(ctx context.Context) error {
	return db.lead1(ctx, "sync", db.syncAndPromise)
}

func (db *DB) syncAndPromise() error {
	if db.relied {
		if err := db.confirm(); err != nil {
			return err
		}
	}
	if db.wal == nil || !db.unsynced || db.opts.Sync == SyncAlways {
		return nil
	}
	if err := db.syncLog(); err != nil {
		return err
	}
	return db.leavePromise()
}

// lead1 runs f as the leader, between two groups.
func (db *DB) lead1(ctx context.Context, what string, f func() error) error {
	if err := db.writable(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	select {
	case <-db.leader:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	defer func() { db.leader <- struct{}{} }()
	if err := db.writable(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// syncEvery is the background of SyncInterval.
func (db *DB) syncEvery(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-db.stop:
			return
		case <-t.C:
			err := db.Sync(context.Background())
			if errors.Is(err, ErrClosed) || errors.Is(err, ErrBroken) {
				return // it stays so, and was logged
			}
			if err != nil {
				db.log.Error("sync in the background failed", "err", err)
			}
		}
	}
}

// Close puts the log away, gives free space at the end of the file back,
// releases the lock and closes the file. Afterwards the file may be copied or
// moved. A DB that is broken is closed as it is, and the next Open recovers;
// its error is returned. A second Close is ErrClosed.
func (db *DB) Close() error {
	if db.writer != nil {
		db.embedding.close() // while what it has can still be committed
	}
	if !db.closed.CompareAndSwap(false, true) {
		return ErrClosed
	}
	var err error
	if db.writer != nil {
		<-db.leader
		close(db.stop)
		err = db.closeWriter()
	}
	db.refreshing.Lock() // no view comes after the one that is closed
	defer db.refreshing.Unlock()
	db.view.Load().close()
	if cerr := errors.Join(db.file.Unlock(), db.file.Close()); cerr != nil && err == nil {
		err = cerr
	}
	if db.writer != nil {
		db.leader <- struct{}{} // who came too late leads once, and finds the DB closed
	}
	if err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// closeWriter ends the writer's life. Whoever waits in Append finds the DB
// closed.
func (db *DB) closeWriter() error {
	defer func() {
		for b := db.queue.pop(); b != nil; b = db.queue.pop() {
			b.finish(ErrClosed)
		}
	}()
	if db.job != nil {
		<-db.job.done
	}
	if err := db.broken.Load(); err != nil {
		return *err
	}
	if err := db.waitSealed(context.Background()); err != nil {
		return err
	}
	if err := db.putAway(nil); err != nil {
		return err
	}
	if db.relied {
		if err := db.confirm(); err != nil {
			return err
		}
	}
	if err := db.tidy(); err != nil {
		if broken := db.broken.Load(); broken != nil {
			return *broken
		}
		db.log.Warn("the file could not be made shorter", "err", err) // and is as good as before
	}
	return db.giveBack()
}

// giveBack cuts free space from the end of the file. It may fail without harm.
func (db *DB) giveBack() error {
	size, err := db.file.Size()
	if err != nil {
		return err
	}
	db.mu.Lock()
	end := db.space.trim()
	db.mu.Unlock()
	if size <= end {
		return nil
	}
	if err := db.confirm(); err != nil { // the older slot may name what is cut
		return err
	}
	if err := db.out.Truncate(max(end, db.super.End)); err != nil {
		db.log.Warn("the end of the file could not be given back", "bytes", size-end, "err", err)
	}
	return nil
}

// leavePromise writes an empty frame that says what is durable, if none does
// yet. It is not synced.
func (db *DB) leavePromise() error {
	if db.wal == nil || db.synced+1 != db.wal.Next() || db.broken.Load() != nil || db.unsynced {
		return nil
	}
	if err := db.wal.Promise(db.synced, db.nextID); err != nil && !errors.Is(err, wal.ErrFull) {
		return db.writeFailed(err)
	}
	db.witness = true
	return nil
}
