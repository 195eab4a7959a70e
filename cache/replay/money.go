package replay

// Money is what the prompts of a run cost. One prompt is sent at each step: all
// that is resident then, in the order in which it was admitted. The prompt cache
// has the longest prefix of it that the prompt before began with; what stands
// behind the first change is written again.
type Money struct {
	Reads    float64 // tokens that the prompt cache had, at the price of a read
	Writes   float64 // tokens that it had not, at the price of a write
	Rewrites float64 // the part of Writes for what was sent before: it stood behind something that left
	Requests float64 // faults at the price of a request
	Total    float64 // Reads + Writes + Requests
	KeepAll  float64 // what it had cost to let nothing leave
}

// OfKeepAll is the cost as a share of that of keeping everything; 0 if that is 0.
func (m Money) OfKeepAll() float64 { return ratio(m.Total, m.KeepAll) }

// ledger keeps the prompt and adds up what it costs.
type ledger struct {
	prices Prices
	prompt []line
	at     map[page]int // where in prompt
	// invariant: prompt[:fresh] was sent with the last step, in this order, and
	// nothing of it has left since
	fresh int
	// invariant: read is the size of prompt[:fresh]
	read   int64
	holes  int   // lines of prompt that left
	kept   int64 // tokens sent by a window that lets nothing leave
	unsent int64 // tokens that such a window has not sent yet
	money  Money
}

// line is one resident of the prompt.
type line struct {
	page page
	size int64
	sent bool // it was part of an earlier prompt since it was admitted
	gone bool
}

func newLedger(prices Prices) *ledger {
	return &ledger{prices: prices, at: make(map[page]int)}
}

// enter appends what became resident.
func (l *ledger) enter(p page, size int64) {
	l.at[p] = len(l.prompt)
	l.prompt = append(l.prompt, line{page: p, size: size})
}

// leave takes out what was evicted.
func (l *ledger) leave(p page) {
	i, ok := l.at[p]
	if !ok {
		return
	}
	delete(l.at, p)
	for ; l.fresh > i; l.fresh-- {
		if line := l.prompt[l.fresh-1]; !line.gone {
			l.read -= line.size
		}
	}
	l.prompt[i].gone = true
	l.holes++
}

// made counts what a window that lets nothing leave takes in.
func (l *ledger) made(size int64) { l.unsent += size }

// send pays for one prompt.
func (l *ledger) send() {
	read := l.read
	var written, again int64
	for ; l.fresh < len(l.prompt); l.fresh++ {
		line := &l.prompt[l.fresh]
		if line.gone {
			continue
		}
		l.read += line.size
		written += line.size
		if line.sent {
			again += line.size
		}
		line.sent = true
	}
	l.money.Reads += float64(float64(read) * l.prices.Read)
	l.money.Writes += float64(float64(written) * l.prices.Write)
	l.money.Rewrites += float64(float64(again) * l.prices.Write)
	l.money.KeepAll += float64(float64(l.kept)*l.prices.Read) + float64(float64(l.unsent)*l.prices.Write)
	l.kept += l.unsent
	l.unsent = 0
	l.squeeze()
}

// squeeze drops the holes once they are more than what is left.
// REQUIRES: everything was sent.
func (l *ledger) squeeze() {
	if l.holes <= len(l.at)+16 {
		return
	}
	full := l.prompt[:0]
	for _, line := range l.prompt {
		if !line.gone {
			l.at[line.page] = len(full)
			full = append(full, line)
		}
	}
	l.prompt, l.fresh, l.holes = full, len(full), 0
}

func (l *ledger) bill(faults int64) Money {
	m := l.money
	m.Requests = float64(float64(faults) * l.prices.Request)
	m.Total = m.Reads + m.Writes + m.Requests
	return m
}
