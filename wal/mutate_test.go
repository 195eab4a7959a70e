//go:build ctxdbmutate

package wal

import (
	"bytes"
	"testing"

	"ctxdb/format"
)

// Each check that recovery makes is needed: without it a test of this package
// finds fault.
func TestMutations(t *testing.T) {
	crashes := func(t *testing.T) error {
		for seed := range uint64(400) {
			if err := crashLives(t, seed); err != nil {
				return err
			}
		}
		return nil
	}
	flips := func(*testing.T) error { return flipEveryBit() }
	for _, c := range []struct {
		off     []string
		harness func(*testing.T) error
	}{
		{[]string{"lsn", "ids"}, crashes},
		{[]string{"lsn"}, flips},
		{[]string{"salt"}, crashes},
		{[]string{"head"}, flips},
		{[]string{"body"}, crashes},
		{[]string{"body"}, flips},
		{[]string{"promise"}, flips},
	} {
		err := func() error {
			for _, name := range c.off {
				defer Mutate(name)()
			}
			return c.harness(t)
		}()
		if err == nil {
			t.Errorf("without %v nothing is found", c.off)
		}
		t.Logf("without %v: %v", c.off, err)
	}
	check(t, crashes(t), flips(t))
}

func TestMutationEdge(t *testing.T) {
	defer Mutate("edge")()
	im := newImage(extentA)
	x := extentA
	x.Cycle++
	if _, err := Scan(bytes.NewReader(im), testUUID, []format.LogExtent{x}, ScanOptions{}); err != nil {
		t.Errorf("another cycle, not looked at: %v", err)
	}
}
