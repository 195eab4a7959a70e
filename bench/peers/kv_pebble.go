package main

import (
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"ctxdb/engine"
)

var pebblePeer = peer{
	name: "pebble",
	note: "newest format, Bloom filters of 10 bits (Options.Levels), Snappy as by default, commits with pebble.Sync",
	open: func(dir string, _ int) (store, error) { return openPebble(dir, &pebble.Options{}) },
}

var pebbleZstdPeer = peer{
	name: "pebble-zstd",
	note: "the same with the compression settings Good: zstd in the last two levels",
	open: func(dir string, _ int) (store, error) {
		o := &pebble.Options{}
		o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionGood })
		return openPebble(dir, o)
	},
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	pebble.DefaultLogger.Fatalf(format, args...)
}

type pebbleStore struct {
	db     *pebble.DB
	mu     sync.Mutex // guards nextID
	nextID uint64
}

func openPebble(dir string, o *pebble.Options) (store, error) {
	o.FormatMajorVersion = pebble.FormatNewest
	o.Logger = quiet{}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	s := &pebbleStore{db: db, nextID: 1}
	it, err := s.turns()
	if err != nil {
		return nil, err
	}
	if it.Last() {
		id, _ := idOf(it.Key())
		s.nextID = id + 1
	}
	return s, it.Close()
}

func (s *pebbleStore) turns() (*pebble.Iterator, error) {
	return s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{'t'}, UpperBound: []byte{'t' + 1}})
}

func (s *pebbleStore) Append(turns []engine.Turn) error {
	s.mu.Lock()
	id := s.nextID
	s.nextID += uint64(len(turns))
	s.mu.Unlock()
	b := s.db.NewBatch()
	var record []byte
	for i := range turns {
		record = appendRecord(record[:0], &turns[i])
		if err := b.Set(turnKey(id), record, nil); err != nil {
			return err
		}
		if err := b.Set(nameKey(turns[i].Key), idKey(id), nil); err != nil {
			return err
		}
		id++
	}
	return b.Commit(pebble.Sync)
}

func (s *pebbleStore) Content(dst []byte, id uint64) ([]byte, error) {
	record, closer, err := s.db.Get(turnKey(id))
	if err != nil {
		return dst, err
	}
	content, err := recordContent(record)
	dst = append(dst, content...)
	if err := closer.Close(); err != nil {
		return dst, err
	}
	return dst, err
}

func (s *pebbleStore) Lookup(key string) (uint64, error) {
	value, closer, err := s.db.Get(nameKey(key))
	if err != nil {
		return 0, err
	}
	id, _ := idOf(slices.Clone(value))
	return id, closer.Close()
}

func (s *pebbleStore) Scan(visit func([]byte)) error {
	it, err := s.turns()
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		t, err := recordTurn(it.Value())
		if err != nil {
			return err
		}
		visit(t.Content)
	}
	return it.Close()
}

func (s *pebbleStore) Close() error { return s.db.Close() }
