package main

import (
	"math"
	"testing"
)

func TestDifference(t *testing.T) {
	before, better, noise := make([]float64, 100), make([]float64, 100), make([]float64, 100)
	for i := range before {
		before[i] = float64(i%7) / 7
		better[i] = before[i] + 0.1 + 0.01*float64(i%3-1)
		noise[i] = before[i] + 0.1*float64(i%2*2-1)
	}
	if mean, low, high := difference(before, better); math.Abs(mean-0.0999) > 1e-9 || low < 0.095 || high > 0.105 || low > mean || high < mean {
		t.Errorf("a steady gain: %v [%v, %v]", mean, low, high)
	}
	if mean, low, high := difference(before, noise); math.Abs(mean) > 1e-9 || low >= 0 || high <= 0 {
		t.Errorf("ups and downs: %v [%v, %v]", mean, low, high)
	}
	if mean, low, high := difference(before, before); mean != 0 || low != 0 || high != 0 {
		t.Errorf("nothing: %v [%v, %v]", mean, low, high)
	}
	_, low, high := difference(before, noise)
	if _, l, h := difference(before, noise); l != low || h != high {
		t.Error("the same figures give another interval")
	}
}
