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

// contextCache keeps the last kernel's lengths.
type contextCache struct {
	sync.Mutex
	of      kernel
	lengths []float32
	sum     float64
}

// contextLengths is the length of each turn and its neighbours, weighted, and
// their sum.
func (c *Columns) contextLengths(k kernel) ([]float32, float64) {
	c.context.Lock()
	defer c.context.Unlock()
	if c.context.lengths != nil && c.context.of == k {
		return c.context.lengths, c.context.sum
	}
	lengths := make([]float32, len(c.Lengths))
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
				if c.isTool(s) || c.isTool(t) {
					y *= k.tool
				}
				x += y
			}
			lengths[s] = x
		}
	}
	sum := 0.0
	for _, x := range lengths {
		sum += float64(x)
	}
	c.context.of, c.context.lengths, c.context.sum = k, lengths, sum
	return lengths, sum
}

// toolRoles hold data more than talk: long, about many things, and what stands
// next to them often is about something else.
var toolRoles = map[string]bool{"tool_call": true, "tool_result": true, "tool": true, "function": true, "system": true}

func (c *Columns) isTool(seat int) bool { return c.Speakers[c.Who[seat]].tool }
