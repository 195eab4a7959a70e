//go:build cgo

package main

import (
	"database/sql"
	"path/filepath"
	"slices"

	"github.com/mattn/go-sqlite3"
)

func init() {
	sql.Register("sqlite-mattn", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec("PRAGMA mmap_size = 1073741824", nil)
		return err
	}})
	peers = slices.Insert(peers, 2, peer{
		name: "sqlite-mattn",
		note: sqliteNote + "; compiled from C",
		open: func(dir string, _ int) (store, error) {
			return openSQL("sqlite-mattn", "file:"+filepath.Join(dir, "turns.sqlite")+"?_journal_mode=WAL&_synchronous=FULL")
		},
	})
}

const mattnAbsent = ""
