package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxdb/bench/internal/measure"
	"ctxdb/engine"
)

// store is an open place for turns. Ids are given from 1 in the order of
// appends. Append may be called concurrently; the rest may too, beside it.
type store interface {
	Append(turns []engine.Turn) error // one transaction, durable on return
	Content(dst []byte, id uint64) ([]byte, error)
	Lookup(key string) (uint64, error)
	Scan(visit func(content []byte)) error // in the order of ids; content is valid during the call
	Close() error
}

// peer is a store under one configuration.
type peer struct {
	name string
	note string // how it is set up, and on whose advice
	// open makes or opens the store that lives in a folder. writers says how many
	// goroutines will append.
	open func(dir string, writers int) (store, error)
}

// peers in the order of a round. Files with build tags add theirs.
var peers = []peer{ctxdbPeer, bboltPeer, moderncPeer, pebblePeer, pebbleZstdPeer, badgerPeer, badgerZstdPeer, jsonlPeer}

func peerNamed(name string) (peer, error) {
	for _, p := range peers {
		if p.name == name {
			return p, nil
		}
	}
	return peer{}, fmt.Errorf("no peer %q: there are %s", name, strings.Join(peerNames(), ", "))
}

func peerNames() (names []string) {
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}

// chosen are the peers of a comma-separated list; "": all.
func chosen(list string) ([]peer, error) {
	if list == "" {
		return peers, nil
	}
	var all []peer
	for name := range strings.SplitSeq(list, ",") {
		p, err := peerNamed(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return slices.Clip(all), nil
}

// diskBytes is what the files of a folder take on disk: blocks, not lengths,
// since some stores allocate lengths that they never write.
func diskBytes(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n, err := measure.Allocated(path)
		total += n
		return err
	})
	return total, err
}

func openFile(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
}
