package fuzz

import (
	"fmt"
	"testing"
)

// TestKillEverywhere kills the process at each change of a short life, and cuts
// the power everywhere in the next one, which builds upon what it found in
// the page cache: it repeats the last batch, or makes a checkpoint, or appends.
func TestKillEverywhere(t *testing.T) {
	big := appendOp{{size: huge}, {size: tiny}}
	next := map[string][]operation{
		"repeat":     {appendOp{{kind: repeat, pick: -1}}, appendOp{{kind: repeat, pick: -2}}, readOp{}, appendOp{{size: tiny}}},
		"checkpoint": {checkpointOp{}, readOp{}},
		"append":     {appendOp{{size: small}}, reopenOp{}, appendOp{{size: tiny}}},
	}
	for name, second := range next {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var total tally
			for n := 0; ; n += amount(13, 3, 1) {
				p := newPlayer(uint64(n)+1, &optionSets[0])
				p.trip = kill(n)
				first := []operation{appendOp{{size: tiny}, {size: small}}, big, appendOp{{size: small}}, checkpointOp{}}
				err := p.untilKilled(first)
				if err == nil && p.trip != nil {
					break // it lived to the end
				}
				if err == nil {
					p.cut = newCutter(uint64(n))
					p.cut.write, p.cut.deep = 20, 0
					for _, op := range second {
						if err == nil {
							err = p.run(op)
						}
					}
					p.change(func(m *Model) { p.cut.at(m, p.mem, "the end") })
					if err == nil {
						err = p.cut.err
					}
					total.add(*p.cut.tally)
				}
				if err != nil {
					t.Fatalf("killed at change %d: %v", n, err)
				}
			}
			t.Logf("%v", total)
		})
	}
}

// untilKilled runs operations until the trip fires, and opens again.
func (p *player) untilKilled(ops []operation) error {
	err := p.open()
	if p.tripped(err) {
		return p.revive()
	}
	for _, op := range ops {
		if err != nil {
			return fmt.Errorf("before the kill: %w", err)
		}
		if err = p.run(op); p.trip == nil {
			return err
		}
	}
	return err
}
