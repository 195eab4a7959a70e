package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
)

// resamples of the questions; a tenth of their means lies outside of the interval.
const resamples = 2000

// difference of two settings over the same questions: the mean, and the interval
// that nine of ten resamples of the questions stay in (paired bootstrap; Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993). The same figures give the
// same interval.
func difference(before, after []float64) (mean, low, high float64) {
	n := len(before)
	d := make([]float64, n)
	for i := range d {
		d[i] = after[i] - before[i]
		mean += d[i] / float64(n)
	}
	r := rand.New(rand.NewPCG(uint64(n), 1))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range n {
			sum += d[r.IntN(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return mean, means[resamples/20], means[resamples-1-resamples/20]
}

// writeDifferences says what each step adds to the one before, and what vectors
// add to words: plain is the number of settings without vectors.
func writeDifferences(w io.Writer, results []result, plain int) {
	fmt.Fprintln(w, "\nadded to the mean of recall at 2, 4 and 10 %, in points, with the 90 % interval (paired bootstrap over the questions)")
	for i := baselines + 1; i < len(results); i++ {
		before := results[min(i, plain)-1]
		mean, low, high := difference(before.each, results[i].each)
		fmt.Fprintf(w, "%-34s  %+5.1f  [%+5.1f, %+5.1f]\n", results[i].name, 100*mean, 100*low, 100*high)
	}
}
