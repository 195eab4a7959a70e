package engine

import (
	"context"
	"errors"
	"iter"

	"ctxdb/format"
	"ctxdb/segment"
)

// keysOf reads the keys of a segment: from its index, or where that is damaged
// from its turns.
func (db *DB) keysOf(e format.SegmentEntry) ([]format.KeyEntry, error) {
	s := segment.Open(db.file, db.path, db.super.UUID, e, db.readOptions())
	defer s.Close()
	keys, err := collectKeys(nil, s.Keys())
	if !isDamage(err) {
		return keys, err
	}
	db.log.Error("the keys of a segment are damaged; they are read from its turns", "segment", e.Number, "offset", e.Offset, "err", err)
	keys, terr := turnKeys(s)
	return keys, terr
}

// collectKeys appends the keys of a sequence, up to an error.
func collectKeys(keys []format.KeyEntry, seq iter.Seq2[format.KeyEntry, error]) ([]format.KeyEntry, error) {
	for k, err := range seq {
		if err != nil {
			return keys, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// turnKeys makes the key entries of a segment of its turns, all of which must be
// readable. Their sources need not be.
func turnKeys(s *segment.Segment) (keys []format.KeyEntry, err error) {
	id := s.Entry().FirstID
	for t, err := range s.All(context.Background()) {
		var lost *segment.RangeError
		if err != nil && !(errors.As(err, &lost) && lost.Source) {
			return nil, err
		}
		if t.Record.Key != "" {
			keys = append(keys, format.KeyEntry{Hash: format.HashKey(t.Record.Key), ID: id})
		}
		id++
	}
	return keys, nil
}

// findKey adds the turns of a segment that a hash may stand for. Where the index
// is damaged its turns are asked, which takes long and is as true.
func findKey(s *segment.Segment, hash uint64, ids []uint64) ([]uint64, error) {
	found, err := s.FindKey(hash, ids)
	if !isDamage(err) || isRetired(err) {
		return found, err
	}
	keys, terr := turnKeys(s)
	if terr != nil {
		return ids, err
	}
	for _, k := range keys {
		if k.Hash == hash {
			ids = append(ids, k.ID)
		}
	}
	return ids, nil
}
