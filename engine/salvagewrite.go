package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// salvageBytes bounds the turns that salvage holds, save one large one.
const salvageBytes = 4 * segmentBytes

// writeSalvaged makes the new file under a temporary name, and gives it its own
// once it is whole.
func writeSalvaged(ctx context.Context, o *Options, dst string, m *merge) error {
	f, tmp, err := o.FS.CreateTemp(dst)
	if err != nil {
		return err
	}
	err = errors.Join(initialize(o, f), f.Close())
	if err == nil {
		err = fillSalvaged(ctx, o, tmp, m)
	}
	if err == nil {
		err = o.FS.Link(tmp, dst)
	}
	if rerr := o.FS.Remove(tmp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) && err == nil {
		err = rerr
	}
	if err != nil {
		return err
	}
	return o.FS.SyncDir(dst)
}

func fillSalvaged(ctx context.Context, o *Options, tmp string, m *merge) error {
	db, err := Open(tmp, o)
	if err != nil {
		return err
	}
	err = m.run(ctx, &rebuild{db: db, nextID: 1})
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return err
}

// rebuild seals turns into a new file, in pieces.
type rebuild struct {
	db      *DB
	pending []stretch // of one segment each
	last    int64     // bytes of the last one
	bytes   int64     // of all
	lost    []format.LostRange
	nextID  uint64 // one more than the last id that was added or lost
}

// add takes a turn over. One that was perhaps never acknowledged is not kept
// where its key names another turn already.
func (b *rebuild) add(id uint64, t segment.Turn, unconfirmed bool) (kept bool, reason string, err error) {
	if unconfirmed && t.Record.Key != "" {
		if err := b.flush(0); err != nil {
			return false, "", err
		}
		other, err := b.db.view.Load().sealedKey(t.Record.Key)
		if err != nil {
			return false, "", err
		}
		if other != 0 {
			return false, fmt.Sprintf("was perhaps never acknowledged, and turn %d has its key", other), nil
		}
	}
	n := turnSize(&t)
	if k := len(b.pending); k > 0 && b.pending[k-1].end() == id && b.last+n <= segmentBytes {
		b.pending[k-1].turns = append(b.pending[k-1].turns, t)
		b.last += n
	} else {
		b.pending = append(b.pending, stretch{first: id, turns: []segment.Turn{t}})
		b.last = n
	}
	b.bytes += n
	b.nextID = id + 1
	if b.bytes >= salvageBytes {
		return true, "", b.flush(1)
	}
	return true, "", nil
}

// lose records that ids can't be read any more.
func (b *rebuild) lose(first, count uint64) {
	b.nextID = first + count
	if n := len(b.lost); n > 0 && b.lost[n-1].FirstID+b.lost[n-1].Count == first {
		b.lost[n-1].Count += count
		return
	}
	b.lost = append(b.lost, format.LostRange{FirstID: first, Count: count})
}

// flush seals what is pending but the last stretches, which may grow.
func (b *rebuild) flush(keep int) error {
	n := len(b.pending) - keep
	if n <= 0 {
		n = len(b.pending) // a large turn of its own
	}
	if n == 0 {
		return nil
	}
	rest := slices.Clone(b.pending[n:])
	next := b.nextID
	if len(rest) > 0 {
		next = rest[0].first
	}
	if err := b.apply(b.pending[:n], next); err != nil {
		return err
	}
	b.pending, b.bytes = rest, 0
	for i := range rest {
		b.bytes += rest[i].size()
	}
	return nil
}

func (b *rebuild) apply(turns []stretch, nextID uint64) error {
	lost := slices.Clone(b.lost)
	for len(lost) > 0 && lost[len(lost)-1].FirstID >= nextID {
		lost = lost[:len(lost)-1]
	}
	if err := b.db.apply(&change{turns: turns, nextID: nextID, nextLSN: 1, lost: lost}); err != nil {
		return err
	}
	b.db.nextID = nextID
	return nil
}

// finish seals the rest. Ids up to nextID are never given again.
func (b *rebuild) finish(nextID uint64) error {
	turns := b.pending
	b.pending, b.bytes = nil, 0
	return b.apply(turns, nextID)
}
