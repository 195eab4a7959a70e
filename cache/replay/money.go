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

// ledger keeps the prompt and adds up what it costs. Each entry, departure and
// prompt takes time logarithmic in what is resident.
type ledger struct {
	prices Prices
	prompt []line       // in the order of admission; those that left are holes
	at     map[page]int // where in prompt
	// invariant: before(i) is the size of what is resident of prompt[:i]
	sums sums
	// invariant: prompt[:fresh] was sent with the last step, in this order, and
	// nothing of it has left since
	fresh int
	known int   // prompt[:known] was there when the last prompt was sent
	size  int64 // of all that is resident
	sent  int64 // of what of it was part of an earlier prompt since it was admitted

	holes  int   // lines of prompt that left
	kept   int64 // tokens sent by a window that lets nothing leave
	unsent int64 // tokens that such a window has not sent yet
	money  Money
}

// line is one resident of the prompt.
type line struct {
	page page
	size int64
	gone bool
}

func newLedger(prices Prices) *ledger {
	return &ledger{prices: prices, at: make(map[page]int)}
}

// enter appends what became resident.
func (l *ledger) enter(p page, size int64) {
	l.at[p] = len(l.prompt)
	l.prompt = append(l.prompt, line{page: p, size: size})
	l.sums.push(size)
	l.size += size
}

// leave takes out what was evicted.
func (l *ledger) leave(p page) {
	i, ok := l.at[p]
	if !ok {
		return
	}
	delete(l.at, p)
	line := &l.prompt[i]
	line.gone = true
	l.sums.add(i, -line.size)
	l.size -= line.size
	if i < l.known {
		l.sent -= line.size
	}
	l.fresh = min(l.fresh, i)
	l.holes++
}

// made counts what a window that lets nothing leave takes in.
func (l *ledger) made(size int64) { l.unsent += size }

// send pays for one prompt.
func (l *ledger) send() {
	read := l.sums.before(l.fresh)
	l.money.Reads += float64(float64(read) * l.prices.Read)
	l.money.Writes += float64(float64(l.size-read) * l.prices.Write)
	l.money.Rewrites += float64(float64(l.sent-read) * l.prices.Write)
	l.money.KeepAll += float64(float64(l.kept)*l.prices.Read) + float64(float64(l.unsent)*l.prices.Write)
	l.kept += l.unsent
	l.unsent = 0
	l.fresh, l.sent = len(l.prompt), l.size
	l.squeeze()
	l.known = len(l.prompt)
}

// squeeze drops the holes once they are more than what is left.
// REQUIRES: everything was sent.
func (l *ledger) squeeze() {
	if l.holes <= len(l.at)+16 {
		return
	}
	full := l.prompt[:0]
	l.sums = l.sums[:0]
	for _, line := range l.prompt {
		if !line.gone {
			l.at[line.page] = len(full)
			full = append(full, line)
			l.sums.push(line.size)
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

// sums are the sums of the numbers before each place of a list (Fenwick, A new
// data structure for cumulative frequency tables, 1994).
type sums []int64

// push appends a number.
func (s *sums) push(v int64) {
	n := len(*s) + 1
	for low := 1; n&low == 0; low <<= 1 {
		v += (*s)[n-low-1]
	}
	*s = append(*s, v)
}

// add adds to the number at i.
func (s sums) add(i int, v int64) {
	for i++; i <= len(s); i += i & -i {
		s[i-1] += v
	}
}

// before is the sum of the first n.
func (s sums) before(n int) (sum int64) {
	for ; n > 0; n &= n - 1 {
		sum += s[n-1]
	}
	return sum
}
