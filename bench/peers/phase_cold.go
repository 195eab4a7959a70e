package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
)

// coldPhase reads turns at random, the files' pages dropped before each. Reads
// that no disk took part in were not cold and do not count: pages that are
// mapped and in use can't be dropped.
func coldPhase(t task, p peer, _ *workload.Set) (figures, error) {
	if err := measure.DropCache(t.Dir); err != nil {
		return nil, err
	}
	s, err := p.open(t.Dir, 1)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(workload.Seed, 2))
	buf := make([]byte, 0, 2<<20)
	var all measure.Samples
	var bytesRead, majorFaults int64
	for range t.Ops {
		id := 1 + rng.Uint64N(uint64(t.Turns))
		if err := measure.DropCache(t.Dir); err != nil {
			return nil, err
		}
		before, faultsBefore := measure.DiskReadBytes(), measure.Used().MajorFault
		var one measure.Samples
		if err := one.Time(func() (err error) { buf, err = s.Content(buf[:0], id); return err }); err != nil {
			return nil, err
		}
		if n := measure.DiskReadBytes() - before; n > 0 {
			all = append(all, one...)
			bytesRead += n
			majorFaults += measure.Used().MajorFault - faultsBefore
		}
	}
	f := figures{"cold_share": float64(len(all)) / float64(t.Ops)}
	if len(all) > 0 {
		f.put("cold", all)
		f["cold_kib"] = float64(bytesRead) / float64(len(all)) / 1024
		f["cold_major_faults"] = float64(majorFaults) / float64(len(all))
	}
	if err := coldFloor(f, t, rng); err != nil {
		return nil, err
	}
	return f, s.Close()
}

// coldFloor reads 4 KiB, aligned, from the largest file of the folder.
func coldFloor(f figures, t task, rng *rand.Rand) error {
	var path string
	var size int64
	files, err := filepath.Glob(filepath.Join(t.Dir, "*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if st, err := os.Stat(name); err == nil && st.Size() > size {
			path, size = name, st.Size()
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	page := make([]byte, 4096)
	var all measure.Samples
	for range t.Ops {
		at := rng.Int64N(max(size/4096, 1)) * 4096
		if err := measure.DropCache(t.Dir); err != nil {
			return err
		}
		before := measure.DiskReadBytes()
		var one measure.Samples
		if err := one.Time(func() error { _, err := file.ReadAt(page[:min(4096, size-at)], at); return err }); err != nil {
			return err
		}
		if measure.DiskReadBytes() > before {
			all = append(all, one...)
		}
	}
	f.put("cold_pread", all)
	return nil
}
