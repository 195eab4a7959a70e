//go:build ctxdbmutate

package fuzz

import (
	"strings"
	"testing"
	"time"

	"ctxdb/engine"
	"ctxdb/wal"
)

// sameByte are no random numbers at all: every salt and nonce is the same.
type sameByte struct{}

func (sameByte) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}

// TestMutant switches protections off. Each is found alone, by power cuts, by
// damage, or by copies; some by power cuts only together with another, which
// covers it there: salts where leftovers are zeroed, ids where LSNs are checked.
// Ids are the second line everywhere: see SPEC.md section 15.
func TestMutant(t *testing.T) {
	for _, c := range []struct {
		off     string // names for wal.Mutate and engine.Mutate
		lies    string
		same    bool // no random numbers
		hostile bool // damage finds it, power cuts need not
		copies  bool // a copy that is made beside a writer finds it
		blended bool // a file that has sectors of its own copy finds it
	}{
		{off: "once"},
		{off: "confirm"},
		{off: "body"},
		{off: "lsn ids"},
		{off: "salt", lies: "zeros"},
		{same: true, lies: "zeros"},
		{off: "body", hostile: true},
		{off: "head", hostile: true},
		{off: "promise", hostile: true},
		{off: "edge", copies: true},
		{off: "lsn", hostile: true},
		{off: "salt", blended: true},
		{same: true, blended: true},
	} {
		name := strings.Join(strings.Fields(c.off+" "+c.lies), "+")
		if c.same {
			name = "same-salts+" + name
		}
		switch {
		case c.hostile:
			name += " in damage"
		case c.copies:
			name += " in copies"
		case c.blended:
			name += " in blended copies"
		}
		t.Run(name, func(t *testing.T) {
			for _, what := range strings.Fields(c.off) {
				if what == "once" || what == "confirm" {
					defer engine.Mutate(what)()
				} else {
					defer wal.Mutate(what)()
				}
			}
			start := time.Now()
			var err error
			switch {
			case c.hostile:
				err = damageLog()
			case c.copies:
				err = recycledCopy()
			case c.blended && c.same:
				err = blendCopies(sameByte{})
			case c.blended:
				err = blendCopies(nil)
			default:
				err = hunt(40, func(p *player) {
					if c.lies != "" {
						p.lying(c.lies)
					}
					if c.same {
						p.entropy = sameByte{}
					}
				})
			}
			if err == nil {
				t.Errorf("nothing was found")
			}
			t.Logf("%v: %v", time.Since(start).Round(time.Millisecond), err)
		})
	}
}
