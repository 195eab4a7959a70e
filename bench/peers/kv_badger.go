package main

import (
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"ctxdb/engine"
)

var badgerPeer = peer{
	name: "badger",
	note: "default options with SyncWrites; batches through one transaction as far as its limit lets, then the next",
	open: func(dir string, _ int) (store, error) { return openBadger(badger.DefaultOptions(dir)) },
}

var badgerZstdPeer = peer{
	name: "badger-zstd",
	note: "the same with zstd at level 1, its default level",
	open: func(dir string, _ int) (store, error) {
		return openBadger(badger.DefaultOptions(dir).WithCompression(options.ZSTD))
	},
}

type badgerStore struct {
	db     *badger.DB
	mu     sync.Mutex // guards nextID
	nextID uint64
}

func openBadger(o badger.Options) (store, error) {
	db, err := badger.Open(o.WithSyncWrites(true).WithLogger(nil))
	if err != nil {
		return nil, err
	}
	s := &badgerStore{db: db, nextID: 1}
	return s, db.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.IteratorOptions{Reverse: true, Prefix: []byte{'t'}})
		defer it.Close()
		if it.Seek(turnKey(1<<64 - 1)); it.Valid() {
			id, _ := idOf(it.Item().Key())
			s.nextID = id + 1
		}
		return nil
	})
}

func (s *badgerStore) Append(turns []engine.Turn) error {
	s.mu.Lock()
	id := s.nextID
	s.nextID += uint64(len(turns))
	s.mu.Unlock()
	tx := s.db.NewTransaction(true)
	defer func() { tx.Discard() }()
	set := func(key, value []byte) error {
		err := tx.Set(key, value)
		if err != badger.ErrTxnTooBig {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		tx = s.db.NewTransaction(true)
		return tx.Set(key, value)
	}
	for i := range turns {
		if err := set(turnKey(id), appendRecord(nil, &turns[i])); err != nil {
			return err
		}
		if err := set(nameKey(turns[i].Key), idKey(id)); err != nil {
			return err
		}
		id++
	}
	return tx.Commit()
}

func (s *badgerStore) get(key []byte, use func(value []byte) error) error {
	return s.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get(key)
		if err != nil {
			return err
		}
		return item.Value(use)
	})
}

func (s *badgerStore) Content(dst []byte, id uint64) ([]byte, error) {
	err := s.get(turnKey(id), func(record []byte) error {
		content, err := recordContent(record)
		dst = append(dst, content...)
		return err
	})
	return dst, err
}

func (s *badgerStore) Lookup(key string) (id uint64, err error) {
	err = s.get(nameKey(key), func(value []byte) error {
		id, _ = idOf(value)
		return nil
	})
	return id, err
}

func (s *badgerStore) Scan(visit func([]byte)) error {
	return s.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = []byte{'t'}
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			err := it.Item().Value(func(record []byte) error {
				t, err := recordTurn(record)
				visit(t.Content)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *badgerStore) Close() error { return s.db.Close() }
