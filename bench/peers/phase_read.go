package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
)

// openPhase opens a store that was closed, and reads one turn of it. Its files are in the page cache.
func openPhase(t task, p peer, set *workload.Set) (figures, error) {
	stop, base := watch(), measure.AnonBytes()
	count, start := countAllocations(), time.Now()
	s, err := p.open(t.Dir, 1)
	if err != nil {
		return nil, err
	}
	opened := time.Since(start)
	got, err := s.Content(nil, uint64(t.Turns/2))
	if err != nil {
		return nil, err
	}
	f := figures{"open_us": float64(opened.Nanoseconds()) / 1e3, "open_first_us": float64(time.Since(start).Nanoseconds()) / 1e3}
	count.put(f, "open", 1)
	f["open_peak_mib"] = float64(stop()-base) / (1 << 20)
	if want := set.At(t.Turns/2 - 1).Content; !bytes.Equal(got, want) {
		return nil, fmt.Errorf("turn %d: %d bytes that differ from the %d appended", t.Turns/2, len(got), len(want))
	}
	return f, s.Close()
}

// readPhase reads everything in order, then turns and keys at random, from the page cache.
func readPhase(t task, p peer, set *workload.Set) (figures, error) {
	s, err := p.open(t.Dir, 1)
	if err != nil {
		return nil, err
	}
	f := figures{}
	if err := scan(f, s, t.Turns); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(workload.Seed, workload.Seed))
	ids := make([]uint64, t.Ops)
	for i := range ids {
		ids[i] = 1 + rng.Uint64N(uint64(t.Turns))
	}
	if err := faults(f, s, ids, set); err != nil {
		return nil, err
	}
	f.rename("fault", "any_fault")
	recent := make([]uint64, t.Ops)
	for i := range recent { // how long ago: as likely 1 to 10 turns as 10 to 100, and so on
		recent[i] = uint64(t.Turns) + 1 - min(uint64(t.Turns), uint64(math.Exp(rng.Float64()*math.Log(float64(t.Turns)+1))))
	}
	if err := faults(f, s, recent, set); err != nil {
		return nil, err
	}
	f.rename("fault", "recent_fault")
	if db, ok := s.(ours); ok {
		if err := decodes(f, db, ids); err != nil {
			return nil, err
		}
	}
	if err := lookups(f, s, ids); err != nil {
		return nil, err
	}
	return f, s.Close()
}

func scan(f figures, s store, turns int) error {
	var content int64
	var n int
	start := time.Now()
	if err := s.Scan(func(c []byte) { n++; content += int64(len(c)) }); err != nil {
		return err
	}
	if n != turns {
		return fmt.Errorf("%d turns read, %d were appended", n, turns)
	}
	f["scan_mb_per_s"] = float64(content) / 1e6 / time.Since(start).Seconds()
	return nil
}

func faults(f figures, s store, ids []uint64, set *workload.Set) (err error) {
	buf := make([]byte, 0, 2<<20)
	all := make(measure.Samples, 0, len(ids))
	for _, id := range ids { // once before what counts
		if buf, err = s.Content(buf[:0], id); err != nil {
			return err
		}
		if want := set.At(int(id - 1)).Content; !bytes.Equal(buf, want) {
			return fmt.Errorf("turn %d: %d bytes that differ from the %d appended", id, len(buf), len(want))
		}
	}
	count := countAllocations()
	for _, id := range ids {
		if err := all.Time(func() (err error) { buf, err = s.Content(buf[:0], id); return err }); err != nil {
			return err
		}
	}
	count.put(f, "fault", len(ids))
	f.put("fault", all)
	return nil
}

// decodes alternates faults with decoding and with one read, all of turns of one
// block each.
func decodes(f figures, s ours, ids []uint64) error {
	floor, err := newBlockFloor(s.db, ids)
	if err != nil {
		return err
	}
	defer floor.Close()
	buf := make([]byte, 0, 2<<20)
	var own, decode, pread measure.Samples
	n := len(floor.blocks)
	for i := range n {
		if err := own.Time(func() (err error) { buf, err = s.Content(buf[:0], floor.blocks[i].id); return err }); err != nil {
			return err
		}
		if err := decode.Time(func() error { return floor.decode(i + n/2) }); err != nil {
			return err
		}
		if err := pread.Time(func() error { return floor.pread(i + n/3) }); err != nil {
			return err
		}
	}
	f.put("block_fault", own)
	f.put("decode", decode)
	f.put("pread", pread)
	f["fault_ratio"] = f["block_fault_p50_us"] / f["decode_p50_us"]
	return nil
}

func lookups(f figures, s store, ids []uint64) error {
	var all measure.Samples
	for round := range 2 {
		all = make(measure.Samples, 0, len(ids))
		count := countAllocations()
		for _, id := range ids {
			key := workload.Key(int(id - 1))
			var got uint64
			if err := all.Time(func() (err error) { got, err = s.Lookup(key); return err }); err != nil {
				return err
			}
			if got != id {
				return fmt.Errorf("key of turn %d leads to %d", id, got)
			}
		}
		if round == 1 {
			count.put(f, "lookup", len(ids))
		}
	}
	f.put("lookup", all)
	return nil
}
