package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"

	"ctxdb/bench/internal/workload"
)

// task is what a process of its own is to measure.
type task struct {
	Phase   string
	Peer    string
	Dir     string // the folder of the store
	Work    string // file of the workload; "": read the real data
	From    int    // turns that are there already
	Turns   int    // turns to append, or that are there
	Ops     int
	Seconds float64
	Profile string // file for a CPU profile; "": none
}

// phases by name. Each runs in a process of its own.
var phases map[string]func(task, peer, *workload.Set) (figures, error)

func init() { // they are functions that reach this map
	phases = map[string]func(task, peer, *workload.Set) (figures, error){
		"append": appendPhase, "writers": writersPhase, "import": importPhase, "open": openPhase,
		"read": readPhase, "cold": coldPhase, "search": searchPhase,
	}
}

// run starts a process for a task and waits for its figures.
func (t task) run() (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-task", string(spec))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", t.Phase, t.Peer, err)
	}
	f := figures{}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		return nil, fmt.Errorf("%s of %s: its figures: %w", t.Phase, t.Peer, err)
	}
	return f, nil
}

// perform is the other end of run.
func perform(spec string) error {
	var t task
	if err := json.Unmarshal([]byte(spec), &t); err != nil {
		return err
	}
	p, err := anyNamed(t.Peer)
	if err != nil {
		return err
	}
	set, err := loadSet(t.Work)
	if err != nil {
		return err
	}
	if t.Profile != "" {
		f, err := os.Create(t.Profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	f, err := phases[t.Phase](t, p, set)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

func anyNamed(name string) (peer, error) {
	for _, p := range importFloors {
		if p.name == name {
			return p, nil
		}
	}
	return peerNamed(name)
}

// saveSet spares each process to read the sessions anew.
func saveSet(path string, set *workload.Set) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewEncoder(f).Encode(set.Base())
}

func loadSet(path string) (*workload.Set, error) {
	if path == "" {
		return workload.Coding()
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b workload.Base
	if err := gob.NewDecoder(f).Decode(&b); err != nil {
		return nil, fmt.Errorf("workload %s: %w", path, err)
	}
	return b.Set(), nil
}
