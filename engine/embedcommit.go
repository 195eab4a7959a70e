package engine

import (
	"context"
	"errors"
	"slices"

	"ctxdb/engine/vec"
	"ctxdb/format"
)

// commit makes the vectors that wait durable, and with them that every turn up
// to p.next was looked at.
func (p *embedRun) commit() error {
	if p.next == p.from {
		return nil
	}
	db := p.db
	if err := db.writable(); err != nil {
		return err
	}
	e := format.VectorEntry{FirstID: p.from, EndID: p.next, Model: format.Hash([]byte(p.r.Model))}
	vectors, absorbed := p.absorb(&e)
	data := vec.EncodeRun(vectors)
	if e.Vectors = uint32(len(vectors)); e.Vectors > 0 {
		e.Dims = uint32(p.dims)
	}
	ctx := context.WithoutCancel(p.ctx) // it takes milliseconds, and what was answered is paid for
	err := db.prepareVectors(ctx, &e)
	if err == nil {
		err = db.writeVectors(&e, data)
	}
	if err != nil {
		return err
	}
	err = db.publishVectors(ctx, true, func(old []format.VectorEntry) []format.VectorEntry {
		old = slices.DeleteFunc(old, func(o format.VectorEntry) bool { return slices.Contains(absorbed, o) })
		return append(old, e)
	})
	if err != nil {
		if !errors.Is(err, ErrBroken) { // else superblocks may name it
			db.release(span{off: e.Offset, len: e.Length})
		}
		return err
	}
	db.log.Info("embed", "model", p.r.Model, "from", e.FirstID, "to", e.EndID-1, "vectors", e.Vectors, "bytes", e.Length)
	p.from, p.waiting, p.bytes = p.next, nil, 0
	return nil
}

// absorb takes the runs before into the new one where they are small, and
// returns the vectors of all and the entries that go. It widens e.
func (p *embedRun) absorb(e *format.VectorEntry) (vectors []vec.Vector, absorbed []format.VectorEntry) {
	vectors = p.waiting
	size := uint64(p.bytes) + 8*uint64(len(p.waiting))
	runs := p.db.view.Load().vectors
	for {
		i := slices.IndexFunc(runs, func(r *vectorRun) bool { return r.Entry().Model == e.Model && r.Entry().EndID == e.FirstID })
		if i < 0 {
			return vectors, absorbed
		}
		old := runs[i].Entry()
		if old.Bytes > vectorFan*max(size, format.DataPageBytes) || old.Bytes+size > vectorRunBytes || e.EndID-old.FirstID > maxRunTurns {
			return vectors, absorbed
		}
		before, err := runs[i].all()
		if err != nil {
			return vectors, absorbed // the next pass makes it again
		}
		shift := uint32(e.FirstID - old.FirstID)
		for _, v := range vectors {
			v.Ordinal += shift
			before = append(before, v)
		}
		vectors, absorbed = before, append(absorbed, old)
		e.FirstID, size = old.FirstID, size+old.Bytes
	}
}

// maxRunTurns bounds the ids that one run covers: it counts them in 32 bits.
const maxRunTurns = 1 << 30

// Vectors says what a file has of a model, in runs: vectors that turns came with
// are not counted.
type Vectors struct {
	Model   string // "": none of its runs can be read
	Dims    int
	Vectors uint64
	Bytes   int64
	Runs    int
	Newer   int    // runs that a newer program made, in a way that this one can't read
	Turns   uint64 // that were looked at
}

// VectorRuns lists the models whose vectors were made later, by DB.Embed.
func (db *DB) VectorRuns() ([]Vectors, error) {
	var all []Vectors
	err := db.do(func(v *view) error {
		all = nil
		var last uint64
		for i, r := range v.vectors {
			e := r.Entry()
			if i == 0 || e.Model != last {
				all = append(all, Vectors{})
			}
			last = e.Model
			m := &all[len(all)-1]
			switch x, err := r.open(); {
			case isRetired(err):
				return err
			case errors.Is(err, ErrVersion):
				m.Newer++
			case err == nil && len(x.Sets()) > 0:
				m.Model = x.Sets()[0].Model
			}
			m.Dims = max(m.Dims, int(e.Dims))
			m.Vectors += uint64(e.Vectors)
			m.Bytes += e.Length
			m.Turns += e.EndID - e.FirstID
			m.Runs++
		}
		return nil
	})
	return all, err
}

// DropVectors removes what DB.Embed made with a model from the file; its space is
// used again by later appends. Embeddings that turns came with stay. ErrNotFound:
// there is nothing of that model.
func (db *DB) DropVectors(ctx context.Context, model string) error {
	if err := db.writable(); err != nil {
		return err
	}
	ctx, done, err := db.embedding.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if len(vectorsOfModel(db.view.Load().root.Vectors, model)) == 0 {
		return ErrNotFound
	}
	hash := format.Hash([]byte(model))
	return db.publishVectors(ctx, false, func(old []format.VectorEntry) []format.VectorEntry {
		return slices.DeleteFunc(old, func(e format.VectorEntry) bool { return e.Model == hash })
	})
}

// hasVectors reports whether a turn of the file has a vector of a model.
func (db *DB) hasVectors(model string) bool {
	has := false
	err := db.do(func(v *view) error {
		has = slices.ContainsFunc(vectorsOfModel(v.root.Vectors, model), func(e format.VectorEntry) bool { return e.Vectors > 0 })
		for i := 0; i < len(v.segs) && !has; i++ {
			x, err := db.index.of(v.segs[i])
			if err != nil {
				return err
			}
			has = x.vectors != nil && slices.ContainsFunc(x.vectors.Sets(), func(s vec.Set) bool { return s.Model == model })
		}
		for i := 0; i < len(v.logs) && !has; i++ {
			for _, t := range v.logs[i].turns {
				if rec, _, err := format.DecodeMeta(t.record, t.at); err == nil && rec.Model == model {
					has = true
					break
				}
			}
		}
		return nil
	})
	return has || err != nil // the search that follows says what is wrong
}
