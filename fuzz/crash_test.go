package fuzz

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

var (
	full     = flag.Bool("full", false, "run the crash harness at full size: about ten minutes")
	onlySeed = flag.Uint64("seed", 0, "run only the history of this seed")
)

// histories runs f for the seeds from 1 on, on all processors, until n are
// done, and reports what was tried.
func histories(t *testing.T, n int, f func(seed uint64) (tally, error)) {
	t.Helper()
	first, last := uint64(1), uint64(n)
	if *onlySeed > 0 {
		first, last = *onlySeed, *onlySeed
	}
	var (
		next  atomic.Uint64
		wg    sync.WaitGroup
		mu    sync.Mutex
		total tally
		start = time.Now()
	)
	next.Store(first - 1)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !t.Failed() {
				seed := next.Add(1)
				if seed > last {
					return
				}
				got, err := f(seed)
				mu.Lock()
				total.add(got)
				mu.Unlock()
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("seeds %d to %d: %v, %v", first, last, total, time.Since(start).Round(time.Millisecond))
}

// amount is how many histories to run.
func amount(short, normal, all int) int {
	switch {
	case *full:
		return all
	case trial.Brief():
		return short
	}
	return normal
}

// coreHistory is 200 small turns with a checkpoint and a reopen: two extents of
// the log are filled and sealed on the way.
func coreHistory(seed uint64) []operation {
	rng := seeded(seed)
	var ops []operation
	for turns := 0; turns < 200; {
		op := appendOp{{size: small, kind: drawKind(rng), pick: rng.IntN(1 << 16)}}
		if turns%20 == 7 {
			op = drawBatch(rng, tiny, 3)
		}
		turns += len(op)
		ops = append(ops, op)
	}
	return append(ops, reopenOp{}, appendOp{{size: tiny}}, checkpointOp{}, appendOp{{size: tiny}})
}

// TestCrashCore cuts the power at every write, sync and other change of 200
// appended turns with two seals, and keeps, drops and tears what was not synced.
func TestCrashCore(t *testing.T) {
	histories(t, amount(1, 1, 8), func(seed uint64) (tally, error) {
		p := newPlayer(seed, &optionSets[0])
		p.cut = newCutter(seed)
		if trial.Brief() {
			p.cut.variants, p.cut.write, p.cut.deep = 16, 120, 20
		}
		err := p.play(coreHistory(seed))
		if s := len(p.db.Stats().Segments); err == nil && s < 1 {
			err = fmt.Errorf("%d segments", s)
		}
		return *p.cut.tally, err
	})
}

// TestCrashLives cuts the power in histories of several lives: each ends with a
// power cut, a kill, a sync that fails and leaves a page cache that lies, or
// a Close.
func TestCrashLives(t *testing.T) {
	histories(t, amount(1, 4, 30), func(seed uint64) (tally, error) {
		p := newPlayer(seed, &optionSets[seed%3])
		p.cut = newCutter(seed)
		p.cut.write, p.cut.deep = 16, 16
		if seed%5 == 0 {
			if err := p.mem.Put(path, nil); err != nil {
				return *p.cut.tally, err
			}
		}
		err := p.play(history(seeded(seed), 70, true))
		return *p.cut.tally, err
	})
}

// TestCrashLong cuts the power in a history of 1,000 turns and more: at every
// operation in the full run, at some otherwise.
func TestCrashLong(t *testing.T) {
	histories(t, amount(1, 1, 2), func(seed uint64) (tally, error) {
		p := newPlayer(seed+500, &optionSets[seed%3])
		p.cut = newCutter(seed)
		p.cut.every, p.cut.write, p.cut.deep = amount(401, 97, 1), 400, 40
		err := p.play(history(seeded(seed+500), 900, true))
		if n := len(p.model.turns); err == nil && n < 1000 {
			err = fmt.Errorf("a history of %d turns", n)
		}
		return *p.cut.tally, err
	})
}

// TestCrashBackground cuts the power while sealing goes on beside appends. The
// order of their operations is another one each time.
func TestCrashBackground(t *testing.T) {
	histories(t, amount(1, 2, 20), func(seed uint64) (tally, error) {
		p := newPlayer(seed+900, &optionSets[4])
		p.cut = newCutter(seed)
		p.cut.variants, p.cut.write, p.cut.deep = 10, 30, 16
		err := p.play(history(seeded(seed+900), 60, true))
		return *p.cut.tally, err
	})
}

// TestHistories plays longer histories, without looking at each image.
func TestHistories(t *testing.T) {
	histories(t, amount(8, 24, 2000), func(seed uint64) (tally, error) {
		p := newPlayer(seed, &optionSets[seed%uint64(len(optionSets))])
		return tally{}, p.play(history(seeded(seed), 150, true))
	})
}
