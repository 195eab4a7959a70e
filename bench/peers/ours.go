package main

import (
	"context"
	"path/filepath"

	"ctxdb/engine"
)

var ctxdbPeer = peer{
	name: "ctxdb",
	note: "default options",
	open: func(dir string, _ int) (store, error) {
		db, err := engine.Open(filepath.Join(dir, "turns.ctxdb"), nil)
		if err != nil {
			return nil, err
		}
		return ours{db}, nil
	},
}

type ours struct{ db *engine.DB }

func (s ours) Append(turns []engine.Turn) error {
	_, err := s.db.Append(context.Background(), turns...)
	return err
}

func (s ours) Content(dst []byte, id uint64) ([]byte, error) {
	return s.db.AppendContent(dst, engine.TurnID(id))
}

func (s ours) Lookup(key string) (uint64, error) {
	id, err := s.db.Lookup(key)
	return uint64(id), err
}

func (s ours) Scan(visit func([]byte)) error {
	for t, err := range s.db.Turns(1, 0) {
		if err != nil {
			return err
		}
		visit(t.Content)
	}
	return nil
}

func (s ours) Close() error { return s.db.Close() }
