package main

import (
	"database/sql"
	"errors"
	"fmt"

	"ctxdb/engine"
)

const sqliteNote = "WAL, synchronous=FULL, one connection that writes and reads, prepared statements, 1 GiB mapped (pragma mmap_size); each page 4 KiB"

const schema = `CREATE TABLE IF NOT EXISTS turns (
	id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, thread TEXT NOT NULL, role TEXT NOT NULL,
	time INTEGER NOT NULL, content BLOB NOT NULL)`

type sqlStore struct {
	db                           *sql.DB
	insert, content, lookup, all *sql.Stmt
}

// openSQL opens a database of either driver; the pragmas are in its name.
func openSQL(driver, name string) (store, error) {
	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; a second connection would only wait
	if _, err := db.Exec(schema); err != nil {
		return nil, err
	}
	s := &sqlStore{db: db}
	for query, stmt := range map[string]**sql.Stmt{
		"INSERT INTO turns (key, thread, role, time, content) VALUES (?, ?, ?, ?, ?)": &s.insert,
		"SELECT content FROM turns WHERE id = ?":                                      &s.content,
		"SELECT id FROM turns WHERE key = ?":                                          &s.lookup,
		"SELECT key, thread, role, time, content FROM turns ORDER BY id":              &s.all,
	} {
		if *stmt, err = db.Prepare(query); err != nil {
			return nil, fmt.Errorf("prepare %q: %w", query, err)
		}
	}
	return s, nil
}

func (s *sqlStore) Append(turns []engine.Turn) error {
	if len(turns) == 1 { // a statement alone is a transaction
		return insert(s.insert, &turns[0])
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	stmt := tx.Stmt(s.insert)
	for i := range turns {
		if err := insert(stmt, &turns[i]); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func insert(stmt *sql.Stmt, t *engine.Turn) error {
	_, err := stmt.Exec(t.Key, t.Thread, t.Role, t.Time.UnixNano(), t.Content)
	return err
}

func (s *sqlStore) Content(dst []byte, id uint64) ([]byte, error) {
	rows, err := s.content.Query(int64(id))
	if err != nil {
		return dst, err
	}
	defer rows.Close()
	if !rows.Next() {
		return dst, errors.Join(sql.ErrNoRows, rows.Err())
	}
	var raw sql.RawBytes // spares the copy that Scan into bytes would make
	if err := rows.Scan(&raw); err != nil {
		return dst, err
	}
	return append(dst, raw...), rows.Close()
}

func (s *sqlStore) Lookup(key string) (uint64, error) {
	var id int64
	err := s.lookup.QueryRow(key).Scan(&id)
	return uint64(id), err
}

func (s *sqlStore) Scan(visit func([]byte)) error {
	rows, err := s.all.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var t engine.Turn
		var nano int64
		if err := rows.Scan(&t.Key, &t.Thread, &t.Role, &nano, &t.Content); err != nil {
			return err
		}
		visit(t.Content)
	}
	return rows.Err()
}

func (s *sqlStore) Close() error { return s.db.Close() }
