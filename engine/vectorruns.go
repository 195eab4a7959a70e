package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"ctxdb/engine/vec"
	"ctxdb/format"
	"ctxdb/segment"
)

const (
	// vectorRunBytes: small runs of a model grow into one up to about this.
	vectorRunBytes = 4 << 20
	// vectorFan: a run absorbs the one before it where that is at most so many
	// times as large, so that there are few runs and each vector is written
	// O(log n) times.
	vectorFan = 2
)

// vectorRun is a run of vectors that were made after their turns were appended
// (SPEC.md, section 9). Damage to it is never damage to a turn.
type vectorRun struct {
	*segment.VectorRun

	mu     sync.Mutex
	reader *vec.Reader // nil until first use
	read   atomic.Bool // every byte was, and was right
}

// open reads the run's head and holds it against the catalog's entry. A failure
// isn't kept: it may have been the moment's.
func (r *vectorRun) open() (*vec.Reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader != nil {
		return r.reader, nil
	}
	v, err := vec.Open(r.VectorRun, r.Size(), 1)
	if err != nil {
		return nil, indexError(err)
	}
	e := r.Entry()
	sets := v.Sets()
	ok := len(sets) == 0 && e.Vectors == 0
	if len(sets) == 1 {
		s := sets[0]
		ok = format.Hash([]byte(s.Model)) == e.Model && s.Dims == int(e.Dims) && s.Count == int(e.Vectors)
	}
	if !ok {
		return nil, format.Corruptf("vector run", e.Offset, "%d sets where %d vectors of %d dimensions are expected", len(sets), e.Vectors, e.Dims)
	}
	r.reader = v
	return v, nil
}

// sound reads every byte of the run.
func (r *vectorRun) sound() error {
	v, err := r.open()
	if err != nil {
		return err
	}
	e := r.Entry()
	return indexError(v.Check(e.EndID - e.FirstID))
}

// soundOnce is sound, once in the life of a process.
func (r *vectorRun) soundOnce() error {
	if r.read.Load() {
		return nil
	}
	err := r.sound()
	if err == nil {
		r.read.Store(true)
	}
	return err
}

// all decodes the vectors of the run.
func (r *vectorRun) all() ([]vec.Vector, error) {
	if err := r.sound(); err != nil {
		return nil, err
	}
	all, err := r.reader.All()
	return all, indexError(err)
}

// openVectors makes the readers of vector runs. Those of an earlier view are
// taken over. It reads nothing yet.
func (db *DB) openVectors(before *view, uuid format.UUID, entries []format.VectorEntry) []*vectorRun {
	old := map[format.VectorEntry]*vectorRun{}
	if before != nil {
		for _, r := range before.vectors {
			old[r.Entry()] = r
		}
	}
	runs := make([]*vectorRun, len(entries))
	for i, e := range entries {
		if runs[i] = old[e]; runs[i] == nil {
			runs[i] = &vectorRun{VectorRun: segment.OpenVectorRun(db.file, db.path, uuid, e, db.readOptions())}
		}
	}
	return runs
}

// closeVectors closes the readers of runs that a newer view does without.
func closeVectors(old, now []*vectorRun) {
	for _, r := range old {
		if !slices.Contains(now, r) {
			r.Close()
		}
	}
}

// vectorsOfModel lists the entries of a model, by id.
func vectorsOfModel(entries []format.VectorEntry, model string) (own []format.VectorEntry) {
	hash := format.Hash([]byte(model))
	for _, e := range entries {
		if e.Model == hash {
			own = append(own, e)
		}
	}
	return own
}

// prepareVectors sees to it that free space may be overwritten, and draws the
// run's nonce.
func (db *DB) prepareVectors(ctx context.Context, e *format.VectorEntry) error {
	return db.lead1(ctx, "vectors", func() (err error) {
		if err = db.waitSealed(ctx); err == nil {
			err = db.confirm()
		}
		if err == nil {
			e.Nonce, err = random(&db.opts)
		}
		return err
	})
}

// writeVectors writes a run into free space and syncs it, beside appends; nobody
// names it yet. It never takes the reserve: vectors can be made again.
func (db *DB) writeVectors(e *format.VectorEntry, data []byte) error {
	b := segment.BuildVectorRun(db.view.Load().super.UUID, e.Nonce, data)
	e.Bytes, e.Length = uint64(len(data)), int64(len(b))
	e.Offset = db.allocate(e.Length)
	if err := db.writeSynced(b, e.Offset); err != nil {
		db.release(span{off: e.Offset, len: e.Length})
		return db.spaceError(err)
	}
	return nil
}

// publishVectors makes a change of the catalog's vector runs durable. Turns, log
// and ids stay as they are. swap gets the present entries; what it returns is
// sorted. What only takes away may take from the reserve; what adds may not.
func (db *DB) publishVectors(ctx context.Context, adds bool, swap func(old []format.VectorEntry) []format.VectorEntry) error {
	return db.lead1(ctx, "vectors", func() error {
		if err := db.waitSealed(ctx); err != nil {
			return err
		}
		if err := db.file.Check(); err != nil {
			return db.breakOff(err)
		}
		entries := swap(slices.Clone(db.view.Load().root.Vectors))
		slices.SortFunc(entries, compareVectors)
		s := &db.super
		return db.apply(&change{nextID: s.NextID, nextLSN: s.NextLSN, log: s.Log, vectors: entries, newVectors: true, sparing: adds})
	})
}

// compareVectors orders entries by model, then by id.
func compareVectors(a, b format.VectorEntry) int {
	return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.FirstID, b.FirstID))
}
