package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ctxdb/format/disk"
	"ctxdb/segment"
)

// DB is an open file. Its methods may be called by many goroutines.
type DB struct {
	path     string
	opts     Options
	file     disk.File
	log      *slog.Logger
	decoders *segment.DecoderCache
	index    indexes
	aside    *aside
	recovery Recovery

	view    atomic.Pointer[view]
	closed  atomic.Bool
	*writer // nil when read-only

	refreshing sync.Mutex // readers only: one refresh at a time
	tail       *tail      // readers only: where the log was read up to
}

// Recovery says what Open found and did.
type Recovery struct {
	Clean     bool          // the file was closed, nothing had to be done
	Frames    int           // frames of the log that were read
	Turns     uint64        // turns found in the log
	TornBytes int64         // dropped from the end of the log: never acknowledged
	TornAt    int64         // where they began, offset in the file
	Lost      uint64        // acknowledged turns that are damaged
	Took      time.Duration // reading and putting away
}

// Open opens the file at path, creating it if there is none and the options
// permit writing. On return everything that was acknowledged earlier is
// readable, and a new file's name is durable.
//
// A file that was not closed is recovered: what a crash left half-written at
// the end of the log was never acknowledged and is dropped; everything else is
// kept. A reader recovers in memory and changes no byte.
//
// The error wraps ErrLocked, ErrVersion, ErrNotCtxdb, ErrEmpty, ErrCorrupt,
// ErrTruncated, ErrReadOnly or ErrNoSpace, or is one of the file system. Where
// Options.ReadOnly may open the file it is a *LockedError or an *UnwritableError.
func Open(path string, opts *Options) (*DB, error) {
	o := opts.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	resolved, err := o.FS.Resolve(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db := &DB{path: resolved, opts: o, log: o.Logger.With("file", resolved), decoders: segment.NewDecoderCache(decoderBytes), aside: newAside(o.TraceBytes)}
	if o.ReadOnly {
		err = db.openForReading()
	} else {
		err = db.openForWriting()
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", withPath(resolved, err))
	}
	return db, nil
}

func (o *Options) check() error {
	switch o.Sync {
	case SyncAlways, SyncInterval, SyncNever:
		return nil
	}
	return fmt.Errorf("open: unknown sync policy %q; use always, interval or never", o.Sync)
}

func (db *DB) openForReading() error {
	start := time.Now()
	f, err := db.opts.FS.Open(db.path, false)
	if err != nil {
		return err
	}
	db.file = f
	// A writer may move what is being read; what stays damaged is damaged.
	err = db.readAgain()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	db.recovery.Took = time.Since(start)
	return nil
}

func (db *DB) openForWriting() error {
	start := time.Now()
	f, err := openLocked(&db.opts, db.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(&db.opts, db.path); err != nil {
			return err
		}
		f, err = openLocked(&db.opts, db.path)
	}
	if err != nil {
		if isReadOnlyFS(err) {
			return &UnwritableError{fmt.Errorf("%w (%w)", err, ErrReadOnly)}
		}
		return err
	}
	db.file = f
	if err := db.startWriting(); err != nil {
		if v := db.view.Load(); v != nil {
			v.close() // recovery may have mapped what it absorbs
		}
		return errors.Join(err, f.Unlock(), f.Close())
	}
	db.recovery.Took = time.Since(start)
	return nil
}

// startWriting claims an empty file, loads the state, and recovers.
//
// REQUIRES: the lock is held.
func (db *DB) startWriting() error {
	empty, err := claimable(db.file)
	if err != nil {
		return err
	}
	if empty {
		if err := claim(&db.opts, db.file); err != nil {
			return err
		}
	}
	st, err := db.load(false)
	if err != nil {
		return err
	}
	if st.view.super.WriteFeatures != 0 {
		return &UnwritableError{fmt.Errorf("%w: the file has features %#x that this program can't write", ErrVersion, st.view.super.WriteFeatures)}
	}
	db.view.Store(st.view)
	if db.writer, err = newWriter(db, st); err != nil {
		return err
	}
	if err := writeHolder(db.out, db.opts.Now()); err != nil && !isNoSpace(err) {
		return err
	}
	if len(st.view.super.Log) > 0 {
		if err := db.recover(st); err != nil {
			return err
		}
	}
	if db.opts.Sync == SyncInterval {
		go db.syncEvery(db.opts.SyncEvery)
	}
	if db.opts.EmbedTurns && db.opts.Embedder != nil {
		go db.embedSealed()
	}
	return nil
}

// recover puts away what the log holds and publishes a state without one.
func (db *DB) recover(st *loaded) error {
	db.log.Info("recover", "turns", db.recovery.Turns, "frames", db.recovery.Frames)
	if db.recovery.TornBytes > 0 {
		db.log.Warn("torn tail dropped", "bytes", db.recovery.TornBytes, "offset", db.recovery.TornAt)
	}
	if db.recovery.Lost > 0 {
		db.log.Error("acknowledged turns are damaged", "turns", db.recovery.Lost)
	}
	db.super.NextLSN = st.nextLSN
	return db.putAway(nil)
}

// Path is the file's path, symbolic links resolved.
func (db *DB) Path() string { return db.path }

// UUID names the file for ever.
func (db *DB) UUID() string { return db.view.Load().super.UUID.String() }

// Recovery says what Open found and did.
func (db *DB) Recovery() Recovery { return db.recovery }
