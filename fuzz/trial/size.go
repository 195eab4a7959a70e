package trial

import "testing"

// Brief tells whether a test is to try little: under -short, and under the race
// detector, which makes everything about ten times slower and needs each kind
// of meeting once.
func Brief() bool { return Race || testing.Short() }

// Size is how often something is tried: usual, or brief where Brief.
func Size(usual, brief int) int {
	if Brief() {
		return brief
	}
	return usual
}
