//go:build !race

package trial

// Race tells whether the race detector is compiled in.
const Race = false
