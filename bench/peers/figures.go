package main

import (
	"runtime"
	"time"

	"ctxdb/bench/internal/measure"
)

// figures of one phase of one peer, by name; the name ends in the unit.
type figures map[string]float64

// put adds the median and the 99th percentile, in microseconds.
func (f figures) put(name string, s measure.Samples) {
	if len(s) > 0 {
		f[name+"_p50_us"], f[name+"_p99_us"] = s.Micros(.5), s.Micros(.99)
	}
}

// rename gives the figures of an operation another name.
func (f figures) rename(from, to string) {
	for _, unit := range []string{"_p50_us", "_p99_us", "_allocs", "_alloc_bytes"} {
		if v, ok := f[from+unit]; ok {
			f[to+unit] = v
			delete(f, from+unit)
		}
	}
}

// medians of each figure over rounds.
func medians(rounds []figures) figures {
	all := map[string][]float64{}
	for _, r := range rounds {
		for name, v := range r {
			all[name] = append(all[name], v)
		}
	}
	out := figures{}
	for name, values := range all {
		out[name] = measure.Median(values)
	}
	return out
}

// allocations counts what runs between its making and put.
type allocations struct{ mallocs, bytes uint64 }

func countAllocations() allocations {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return allocations{m.Mallocs, m.TotalAlloc}
}

func (a allocations) put(f figures, name string, operations int) {
	now := countAllocations()
	f[name+"_allocs"] = float64(now.mallocs-a.mallocs) / float64(operations)
	f[name+"_alloc_bytes"] = float64(now.bytes-a.bytes) / float64(operations)
}

// watch samples the process's own memory until stop, which returns the peak.
func watch() (stop func() int64) {
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		top := measure.AnonBytes()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				top = max(top, measure.AnonBytes())
			case <-done:
				peak <- max(top, measure.AnonBytes())
				return
			}
		}
	}()
	return func() int64 { close(done); return <-peak }
}
