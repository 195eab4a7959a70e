package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
)

// warmups are appends before the first that counts.
const warmups = 50

// appendPhase appends single turns, each durable, alternately with the floor.
func appendPhase(t task, p peer, set *workload.Set) (figures, error) {
	s, err := p.open(t.Dir, 1)
	if err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(filepath.Dir(t.Dir), "floor")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	floor, err := newSyncFloor(aside)
	if err != nil {
		return nil, err
	}
	defer floor.Close()
	var own, bare measure.Samples
	var count allocations
	all := set.Slice(t.From, t.From+warmups+t.Ops)
	for i := range warmups + t.Ops {
		if i == warmups {
			own, bare = make(measure.Samples, 0, t.Ops), make(measure.Samples, 0, t.Ops)
			count = countAllocations()
		}
		turn := all[i : i+1]
		if err := own.Time(func() error { return s.Append(turn) }); err != nil {
			return nil, err
		}
		if err := bare.Time(func() error { return floor.append(turn[0].Content) }); err != nil {
			return nil, err
		}
	}
	f := figures{}
	count.put(f, "append", t.Ops)
	f.put("append", own)
	f.put("floor", bare)
	f["append_ratio"] = f["append_p50_us"] / f["floor_p50_us"]
	return f, s.Close()
}

// writersPhase appends single durable turns from many goroutines for some time.
func writersPhase(t task, p peer, set *workload.Set) (figures, error) {
	f := figures{}
	for _, writers := range []int{1, 8, 64} {
		dir := filepath.Join(t.Dir, fmt.Sprint(writers))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		rate, err := writersRate(dir, writers, t.Seconds, p, set)
		if err != nil {
			return nil, err
		}
		f[fmt.Sprintf("writers%d_per_s", writers)] = rate
	}
	f["writers_gain"] = f["writers64_per_s"] / f["writers1_per_s"]
	return f, nil
}

func writersRate(dir string, writers int, seconds float64, p peer, set *workload.Set) (float64, error) {
	s, err := p.open(dir, writers)
	if err != nil {
		return 0, err
	}
	var next, done atomic.Int64
	var wg sync.WaitGroup
	failures := make(chan error, writers)
	start := time.Now()
	deadline := start.Add(time.Duration(seconds * float64(time.Second)))
	for range writers {
		wg.Go(func() {
			for time.Now().Before(deadline) {
				i := int(next.Add(1))
				if err := s.Append(set.Slice(i, i+1)); err != nil {
					failures <- err
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	close(failures)
	for err := range failures {
		return 0, err
	}
	return float64(done.Load()) / took.Seconds(), s.Close()
}
