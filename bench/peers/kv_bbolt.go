package main

import (
	"fmt"
	"path/filepath"

	"go.etcd.io/bbolt"

	"ctxdb/engine"
)

var bboltPeer = peer{
	name: "bbolt",
	note: "map freelist, not synced (Options); turns filled to 1.0, being in order (Bucket.FillPercent); many writers through DB.Batch",
	open: func(dir string, writers int) (store, error) {
		db, err := bbolt.Open(filepath.Join(dir, "turns.bbolt"), 0o600, &bbolt.Options{
			FreelistType: bbolt.FreelistMapType, NoFreelistSync: true,
		})
		if err != nil {
			return nil, err
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			for _, name := range [][]byte{bboltTurns, bboltKeys} {
				if _, err := tx.CreateBucketIfNotExists(name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("make buckets: %w", err)
		}
		s := &bboltStore{db: db, transact: db.Update}
		if writers > 1 {
			db.MaxBatchSize = writers
			s.transact = db.Batch
		}
		return s, nil
	},
}

var bboltTurns, bboltKeys = []byte("turns"), []byte("keys")

type bboltStore struct {
	db       *bbolt.DB
	transact func(func(*bbolt.Tx) error) error
}

func (s *bboltStore) Append(turns []engine.Turn) error {
	return s.transact(func(tx *bbolt.Tx) error {
		all, keys := tx.Bucket(bboltTurns), tx.Bucket(bboltKeys)
		all.FillPercent = 1
		for i := range turns {
			id, err := all.NextSequence()
			if err != nil {
				return err
			}
			if err := all.Put(idKey(id), appendRecord(nil, &turns[i])); err != nil {
				return err
			}
			if err := keys.Put([]byte(turns[i].Key), idKey(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *bboltStore) Content(dst []byte, id uint64) ([]byte, error) {
	err := s.db.View(func(tx *bbolt.Tx) error {
		content, err := recordContent(tx.Bucket(bboltTurns).Get(idKey(id)))
		dst = append(dst, content...)
		return err
	})
	return dst, err
}

func (s *bboltStore) Lookup(key string) (id uint64, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		var ok bool
		if id, ok = idOf(tx.Bucket(bboltKeys).Get([]byte(key))); !ok {
			return errRecord
		}
		return nil
	})
	return id, err
}

func (s *bboltStore) Scan(visit func([]byte)) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bboltTurns).ForEach(func(_, record []byte) error {
			t, err := recordTurn(record)
			visit(t.Content)
			return err
		})
	})
}

func (s *bboltStore) Close() error { return s.db.Close() }
