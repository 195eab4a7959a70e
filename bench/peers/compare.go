package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
)

// allPhases in the order of a round.
var allPhases = []string{"import", "open", "read", "cold", "append", "writers"}

// round is one pass of all phases over all peers.
type round struct {
	settings
	base  string // folder of everything
	work  string // file of the workload
	count int
	peers []peer
	got   map[string]figures // by peer
}

func (s settings) set() (*workload.Set, error) {
	if s.chat {
		return workload.Chat()
	}
	return workload.Coding()
}

func compare(s settings, all []peer) (*report, error) {
	set, err := s.set()
	if err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp(s.dir, "peers")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(base)
	work := filepath.Join(base, "workload")
	if err := saveSet(work, set); err != nil {
		return nil, err
	}
	rounds := map[string][]figures{}
	for i := range s.rounds {
		r := &round{settings: s, base: base, work: work, count: i, peers: all, got: map[string]figures{}}
		if err := r.run(); err != nil {
			return nil, err
		}
		for name, f := range r.got {
			rounds[name] = append(rounds[name], f)
		}
	}
	return newReport(s, set, all, rounds), nil
}

func (r *round) run() error {
	for _, phase := range allPhases {
		if !slices.Contains(strings.Split(r.phases, ","), phase) {
			continue
		}
		if phase == "cold" && !measure.CanDropCache {
			fmt.Fprintln(os.Stderr, "cold is left out: the page cache can't be dropped here")
			continue
		}
		all := r.peers
		if phase == "import" {
			all = append(slices.Clone(importFloors), all...)
		}
		for _, p := range all {
			if err := r.one(phase, p); err != nil {
				return err
			}
		}
	}
	for _, p := range r.peers {
		if err := os.RemoveAll(r.folder("import", p)); err != nil {
			return err
		}
	}
	return nil
}

// folder of the store that a phase works on: that of the import, or its own.
func (r *round) folder(phase string, p peer) string {
	if phase == "append" || phase == "writers" {
		return filepath.Join(r.base, phase+"-"+p.name)
	}
	return filepath.Join(r.base, "import-"+p.name)
}

func (r *round) one(phase string, p peer) error {
	fmt.Fprintf(os.Stderr, "round %d of %d: %s of %s\n", r.count+1, r.rounds, phase, p.name)
	dir := r.folder(phase, p)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	t := task{Phase: phase, Peer: p.name, Dir: dir, Work: r.work, Turns: r.turns, Seconds: 2}
	switch phase {
	case "append":
		t.Ops = 1000
	case "read":
		t.Ops = 20000
	case "cold":
		t.Ops = 200
	}
	if r.quick {
		t.Ops, t.Seconds = t.Ops/5, .4
	}
	if r.profile != "" && p.name == ctxdbPeer.name {
		t.Profile = fmt.Sprintf("%s-%s.prof", r.profile, phase)
	}
	f, err := t.run()
	if err != nil {
		return err
	}
	if r.got[p.name] == nil {
		r.got[p.name] = figures{}
	}
	for name, v := range f {
		r.got[p.name][name] = v
	}
	if phase == "append" || phase == "writers" || slices.ContainsFunc(importFloors, func(f peer) bool { return f.name == p.name }) {
		return os.RemoveAll(dir)
	}
	return nil
}
