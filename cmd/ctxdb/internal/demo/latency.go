package demo

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"ctxdb/cache"
)

const (
	faultSamples = 6000
	hitBatches   = 200
	hitsPerBatch = 1000 // a hit is shorter than most clocks tick
)

// Latency is how long single operations took on this machine.
type Latency struct {
	Append Timing `json:"append"` // of one turn, durable on return
	// Faults of turns that are in no window while their blocks are in the
	// operating system's page cache: look up, copy, check, decode.
	Content Timing `json:"fault_content"` // DB.AppendContent into the caller's buffer
	Turn    Timing `json:"fault_turn"`    // DB.Get, content and all fields in new memory
	Hit     Timing `json:"hit"`           // Window.View of a resident; each sample is the mean of a batch
}

// Timing sums samples up. Times are in nanoseconds.
type Timing struct {
	Samples int           `json:"samples"`
	Mean    time.Duration `json:"mean_ns"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
	// Tick is the clock's resolution. Where it is coarse, only Mean means
	// something.
	Tick time.Duration `json:"tick_ns"`
}

func newTiming(samples []time.Duration, tick time.Duration) Timing {
	if len(samples) == 0 {
		return Timing{Tick: tick}
	}
	slices.Sort(samples)
	var sum time.Duration
	for _, s := range samples {
		sum += s
	}
	n := len(samples)
	return Timing{Samples: n, Mean: sum / time.Duration(n), P50: samples[n/2], P99: samples[n*99/100], Tick: tick}
}

// coarse reports that the clock cannot tell such times apart, as on Windows.
func (t Timing) coarse() bool { return t.Mean < 5*t.Tick }

// resolution is the smallest step that the clock was seen to make.
func resolution(clock func() time.Duration) time.Duration {
	least := time.Hour
	for range 20 {
		start := clock()
		now := clock()
		for now == start {
			now = clock()
		}
		least = min(least, now-start)
	}
	return least
}

// latency measures faults and hits over the sealed file, at random turns.
func (p *pager) latency(ctx context.Context, budget, samples int, l *Latency) (err error) {
	tick := resolution(p.clock)
	rng := rand.New(rand.NewPCG(1, 1))
	var buf []byte
	l.Content, err = p.sample(ctx, samples, tick, func() (err error) {
		buf, err = p.db.AppendContent(buf[:0], p.ids[rng.IntN(len(p.ids))])
		return err
	})
	if err != nil {
		return err
	}
	l.Turn, err = p.sample(ctx, samples, tick, func() error {
		_, err := p.db.Get(p.ids[rng.IntN(len(p.ids))])
		return err
	})
	if err != nil {
		return err
	}
	w, err := p.window(cache.LRU, budget)
	if err != nil {
		return err
	}
	l.Hit, err = p.sample(ctx, min(samples, hitBatches), tick, func() error {
		for range hitsPerBatch {
			if _, _, err := w.View(p.ids[0]); err != nil {
				return err
			}
		}
		return nil
	})
	l.Hit.Mean /= hitsPerBatch
	l.Hit.P50 /= hitsPerBatch
	l.Hit.P99 /= hitsPerBatch
	l.Hit.Tick /= hitsPerBatch // a step of the clock is shared by the batch
	return err
}

// sample times n runs of op, after some that are not counted.
func (p *pager) sample(ctx context.Context, n int, tick time.Duration, op func() error) (Timing, error) {
	for range n / 10 {
		if err := op(); err != nil {
			return Timing{}, err
		}
	}
	samples := make([]time.Duration, 0, n)
	for range n {
		if err := ctx.Err(); err != nil {
			return Timing{}, err
		}
		start := p.clock()
		if err := op(); err != nil {
			return Timing{}, err
		}
		samples = append(samples, p.clock()-start)
	}
	return newTiming(samples, tick), nil
}
