package replay

import (
	"context"
	"fmt"
)

// Run is what one replay gave. Sizes are in the unit of the trace.
type Run struct {
	Trace   string
	Options Options // as completed with defaults

	Steps       int64
	References  int64 // everything but the marks of superseded copies
	Recalls     int64 // references that could fault
	RecallSize  int64 // what they needed
	Faults      int64 // recalls of which some part was not resident
	FaultSize   int64 // what had to be brought for them
	Cold        int64 // plain traces: the faults that are an item's first reference
	TailLoads   int64 // parts of the recent tail that the budget had pushed out, brought back uncounted
	Refused     int64 // loads of what is larger than the whole budget; each recall of it is a fault
	Evictions   int64
	Batches     int64
	EvictedSize int64
	Peak        int64 // largest charge there ever was; at most the budget
	Money       Money
}

// FaultRate is the share of recalls that faulted.
func (r *Run) FaultRate() float64 { return ratio(float64(r.Faults), float64(r.Recalls)) }

// ObjectMissRatio is FaultRate by its other name.
func (r *Run) ObjectMissRatio() float64 { return r.FaultRate() }

// ByteMissRatio is what was brought as a share of what was needed.
func (r *Run) ByteMissRatio() float64 { return ratio(float64(r.FaultSize), float64(r.RecallSize)) }

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Simulate replays a trace on a cache. Within a step the tail comes first, then
// the recalls, then what they supersede is marked, then what is new enters. Only
// ErrOptions and the context's error are possible.
func Simulate(ctx context.Context, t *Trace, o Options) (Run, error) {
	s, err := newSimulation(t, o)
	if err != nil {
		return Run{}, err
	}
	return s.over(ctx, t)
}

func (s *simulation) over(ctx context.Context, t *Trace) (Run, error) {
	for refs := range t.steps {
		if s.run.Steps++; s.run.Steps%4096 == 0 && ctx.Err() != nil {
			return Run{}, ctx.Err()
		}
		if err := s.step(refs); err != nil {
			return Run{}, fmt.Errorf("replay: %s: step %d: %w", t.Name, refs[0].Step, err)
		}
	}
	return s.result(), nil
}
