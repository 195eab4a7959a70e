package engine

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/wal"
)

// writer is the part of a DB that appends and publishes. The fields of the
// first group belong to whoever holds the leader token.
type writer struct {
	leader chan struct{} // holds one token while nobody leads
	queue  queue

	wal      *wal.Writer      // nil: the file has no log, the superblock is closed
	spare    format.LogExtent // prepared and named, follows the one in use; Length 0: none
	logBytes int64            // length of the next log extent
	synced   format.LSN       // last LSN whose sync returned
	unsynced bool             // frames were written and not synced
	witness  bool             // a promise frame was written and not synced
	current  *run             // turns of the extent in use
	nextID   uint64           // of the next turn
	job      *sealJob         // the sealing under way, or the last one

	super format.Superblock // as last published; changed by publish only
	slot  int64             // of the newest superblock

	mu      sync.Mutex // guards space
	space   *space
	sparing bool // the change that is applied must not take the reserve

	keys      keyMap     // of logged turns
	syncing   sync.Mutex // serialises syncs
	confirmed bool       // what Open found was made durable
	relied    bool       // a batch was acknowledged on the strength of it; leader's
	found     *loaded    // what Open found; nil once confirmed
	broken    atomic.Pointer[error]
	changing  sync.RWMutex // held for reading while the file is changed, for writing to set broken
	out       disk.File    // the only way in which the file is changed
	views     sync.Mutex   // serialises changes of the view
	embedding embedding
	stop      chan struct{} // closed by Close
}

func newWriter(db *DB, st *loaded) (*writer, error) {
	w := &writer{
		leader:   make(chan struct{}, 1),
		logBytes: min(max(firstLogBytes, db.opts.LogBytes/firstLogShare), db.opts.LogBytes) &^ 4095,
		nextID:   st.view.nextID,
		super:    st.view.super,
		slot:     st.slot,
		found:    st,
		stop:     make(chan struct{}),

		embedding: newEmbedding(),
	}
	w.out = gate{db.file, w}
	w.leader <- struct{}{}
	w.keys.m = map[string]uint64{}
	used := st.view.used()
	db.describe(st)
	w.space = newSpace(used, db.opts.ReuseDelay, db.opts.Now)
	if size, err := db.file.Size(); err != nil {
		return nil, err
	} else if end := size &^ (format.ExtentAlign - 1); end > w.space.end {
		// What lies behind the last extent is leftovers, or the reserve of a
		// writer that died: space that was paid for.
		w.space.undo(w.space.end, end-w.space.end)
		w.space.end = end
	}
	return w, nil
}

// keyMap finds logged turns by key. Entries of turns that are not visible yet
// are told apart by their ids.
type keyMap struct {
	sync.RWMutex
	m map[string]uint64
}

func (k *keyMap) get(key string) (uint64, bool) {
	k.RLock()
	defer k.RUnlock()
	id, ok := k.m[key]
	return id, ok
}

func (k *keyMap) add(more map[string]uint64) {
	k.Lock()
	defer k.Unlock()
	maps.Copy(k.m, more)
}

// dropBelow removes the keys of turns that were sealed.
func (k *keyMap) dropBelow(id uint64) {
	k.Lock()
	defer k.Unlock()
	maps.DeleteFunc(k.m, func(_ string, got uint64) bool { return got < id })
}

// breakOff makes the DB refuse writes from now on.
func (db *DB) breakOff(cause error) error {
	if err := db.broken.Load(); err != nil {
		return *err // the first failure is the one to know
	}
	err := fmt.Errorf("%s: %w: %w", db.path, ErrBroken, cause)
	db.changing.Lock()
	defer db.changing.Unlock()
	if db.broken.CompareAndSwap(nil, &err) {
		db.log.Error("refusing to write from now on; close and open again", "cause", cause)
	}
	return err
}

// writable reports why the DB can't write.
func (db *DB) writable() error {
	switch {
	case db.closed.Load():
		return ErrClosed
	case db.writer == nil:
		return fmt.Errorf("%s: %w: opened for reading", db.path, ErrReadOnly)
	}
	if err := db.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// changeView publishes a new view made from the present one.
func (db *DB) changeView(change func(v *view)) {
	db.views.Lock()
	defer db.views.Unlock()
	v := db.view.Load().derive()
	change(v)
	db.view.Store(v)
}
