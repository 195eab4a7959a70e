package rank

import "sync"

// kernel is how far, and how much, a turn's neighbours count as its own words:
// near, near*decay, near*decay^2 ... at a distance of 1, 2, 3 up to reach turns;
// tool times that where one of the two is a tool's turn.
type kernel struct {
	reach             int
	near, decay, tool float32
}

func (k kernel) weights() []float32 {
	w := make([]float32, k.reach+1)
	w[0] = 1
	for d, x := 1, k.near; d <= k.reach; d++ {
		w[d] = x
		x *= k.decay
	}
	return w
}

// around is what a kernel makes of a part's turns, by seat. It is shared, and
// only read.
type around struct {
	lengths []float32 // of the turn and its neighbours, weighted
	sum     float64
	tools   []bool // turns of tools; nil: none
}

// contextCache keeps the last kernel's.
type contextCache struct {
	sync.Mutex
	of   kernel
	what *around
}

// around is what surrounds each turn.
func (c *Columns) around(k kernel) *around {
	c.context.Lock()
	defer c.context.Unlock()
	if c.context.what == nil || c.context.of != k {
		c.context.of, c.context.what = k, c.newAround(k)
	}
	return c.context.what
}

func (c *Columns) newAround(k kernel) *around {
	a := &around{lengths: make([]float32, len(c.Lengths))}
	for s := range c.Who {
		if c.isTool(s) {
			a.tools = make([]bool, len(c.Who))
			break
		}
	}
	for s := range a.tools {
		a.tools[s] = c.isTool(s)
	}
	w := k.weights()
	for _, run := range c.Runs {
		for s := int(run.From); s < int(run.To); s++ {
			x := float32(c.Lengths[s])
			from, to := max(s-k.reach, int(run.From)), min(s+k.reach, int(run.To)-1)
			for t := from; t <= to; t++ {
				if t == s {
					continue
				}
				y := w[max(s-t, t-s)] * float32(c.Lengths[t])
				if a.tools != nil && (a.tools[s] || a.tools[t]) {
					y *= k.tool
				}
				x += y
			}
			a.lengths[s] = x
		}
	}
	for _, x := range a.lengths {
		a.sum += float64(x)
	}
	return a
}

// toolRoles hold data more than talk: long, about many things, and what stands
// next to them often is about something else.
var toolRoles = map[string]bool{"tool_call": true, "tool_result": true, "tool": true, "function": true, "system": true}

func (c *Columns) isTool(seat int) bool { return c.Speakers[c.Who[seat]].tool }
