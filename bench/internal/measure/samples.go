package measure

import (
	"slices"
	"time"
)

// Samples are durations of one operation each.
type Samples []time.Duration

// Time adds the duration of one operation.
func (s *Samples) Time(operation func() error) error {
	start := time.Now()
	err := operation()
	*s = append(*s, time.Since(start))
	return err
}

// Micros is the quantile q, in microseconds; 0 where nothing was measured.
func (s Samples) Micros(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Nanoseconds()) / 1e3
}

// Median of numbers; 0 of none. The argument is sorted.
func Median(all []float64) float64 {
	slices.Sort(all)
	switch n := len(all); {
	case n == 0:
		return 0
	case n%2 == 1:
		return all[n/2]
	default:
		return (all[n/2-1] + all[n/2]) / 2
	}
}
