package main

import (
	"runtime"
	"slices"
	"time"
)

// figures of one phase of one peer, by name; the name ends in the unit.
type figures map[string]float64

// samples are durations of one operation each.
type samples []time.Duration

// put adds the median and the 99th percentile, in microseconds.
func (s samples) put(f figures, name string) {
	if len(s) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(s))
	at := func(q float64) float64 {
		return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Nanoseconds()) / 1e3
	}
	f[name+"_p50_us"], f[name+"_p99_us"] = at(.5), at(.99)
}

func (s *samples) time(op func() error) error {
	start := time.Now()
	err := op()
	*s = append(*s, time.Since(start))
	return err
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	if mid := len(sorted) / 2; len(sorted)%2 == 1 {
		return sorted[mid]
	} else {
		return (sorted[mid-1] + sorted[mid]) / 2
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
		out[name] = median(values)
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
		top := anonBytes()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				top = max(top, anonBytes())
			case <-done:
				peak <- max(top, anonBytes())
				return
			}
		}
	}()
	return func() int64 { close(done); return <-peak }
}
