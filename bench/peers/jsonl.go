package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"ctxdb/bench/internal/measure"
	"ctxdb/engine"
)

var jsonlPeer = peer{
	name: "jsonl",
	note: "a line of JSON a turn, fdatasync after each transaction; the offsets and keys in maps that opening builds by reading everything",
	open: openJSONL,
}

type jsonlTurn struct {
	Key     string    `json:"key"`
	Thread  string    `json:"thread"`
	Role    string    `json:"role"`
	Time    time.Time `json:"time"`
	Content string    `json:"content"`
}

type jsonlStore struct {
	f       *os.File
	mu      sync.Mutex // guards all below
	end     int64
	offsets []int64 // of the line of id i+1
	keys    map[string]uint64
	lines   []byte
}

func openJSONL(dir string, _ int) (store, error) {
	f, err := openFile(dir, "turns.jsonl")
	if err != nil {
		return nil, err
	}
	s := &jsonlStore{f: f, keys: map[string]uint64{}}
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		var t struct {
			Key string `json:"key"`
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, err
		}
		s.note(t.Key, len(line))
	}
}

func (s *jsonlStore) note(key string, size int) {
	s.offsets = append(s.offsets, s.end)
	s.keys[key] = uint64(len(s.offsets))
	s.end += int64(size)
}

func (s *jsonlStore) Append(turns []engine.Turn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = s.lines[:0]
	start := s.end
	for i := range turns {
		t := &turns[i]
		line, err := json.Marshal(jsonlTurn{t.Key, t.Thread, t.Role, t.Time, string(t.Content)})
		if err != nil {
			return err
		}
		s.lines = append(append(s.lines, line...), '\n')
		s.note(t.Key, len(line)+1)
	}
	if _, err := s.f.WriteAt(s.lines, start); err != nil {
		return err
	}
	return measure.SyncData(s.f)
}

func (s *jsonlStore) Content(dst []byte, id uint64) ([]byte, error) {
	s.mu.Lock()
	if id == 0 || id > uint64(len(s.offsets)) {
		s.mu.Unlock()
		return dst, errors.New("no such turn")
	}
	from, to := s.offsets[id-1], s.end
	if id < uint64(len(s.offsets)) {
		to = s.offsets[id]
	}
	s.mu.Unlock()
	line := make([]byte, to-from)
	if _, err := s.f.ReadAt(line, from); err != nil {
		return dst, err
	}
	var t jsonlTurn
	err := json.Unmarshal(line, &t)
	return append(dst, t.Content...), err
}

func (s *jsonlStore) Lookup(key string) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.keys[key]
	if !ok {
		return 0, errors.New("no such key")
	}
	return id, nil
}

func (s *jsonlStore) Scan(visit func([]byte)) error {
	r := bufio.NewReaderSize(io.NewSectionReader(s.f, 0, s.end), 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var t jsonlTurn
		if err := json.Unmarshal(line, &t); err != nil {
			return err
		}
		visit([]byte(t.Content))
	}
}

func (s *jsonlStore) Close() error { return s.f.Close() }
