package zdict

import "math/bits"

// Finite state entropy: RFC 8878, section 4.1; Duda, Asymmetric numeral systems,
// 2013. A state is a number from 1<<log to 2<<log - 1; each symbol has its share
// of them.

// distribution is the states that each symbol has, of 1<<log: -1 is a single one
// that a decoder leaves for any other.
type distribution struct {
	log   uint8
	share []int16
}

// table encodes symbols of one distribution.
type table struct {
	distribution
	states  []uint16
	symbols []transition
	cost    [64]int32 // of each symbol, in 1/256 bit
}

// transition says how many bits a symbol takes from a state, and where it leads.
type transition struct {
	bits int32 // 16 bits of it are fraction
	next int32
}

// costNever is the cost of a symbol that a table doesn't have: more than a block
// of the others.
const costNever = 1 << 29

func newTable(d distribution) *table {
	size := 1 << d.log
	t := &table{distribution: d, states: make([]uint16, size), symbols: make([]transition, len(d.share))}
	for s := range t.cost {
		t.cost[s] = costNever
	}
	at := make([]int, len(d.share)) // where a symbol's states begin
	total := 0
	for s, n := range d.share {
		at[s] = total
		t.symbols[s], t.cost[s] = transit(d.log, n, total)
		total += int(max(n, -n))
	}
	for state, s := range spread(d) {
		t.states[at[s]] = uint16(size + state)
		at[s]++
	}
	return t
}

// spread gives each state its symbol.
func spread(d distribution) []uint8 {
	size := 1 << d.log
	owner := make([]uint8, size)
	high := size - 1
	for s, n := range d.share {
		if n < 0 {
			owner[high] = uint8(s)
			high--
		}
	}
	at, step := 0, size>>1+size>>3+3
	for s, n := range d.share {
		for range max(n, 0) {
			owner[at] = uint8(s)
			for at = (at + step) & (size - 1); at > high; at = (at + step) & (size - 1) {
			}
		}
	}
	return owner
}

// transit is the transition of a symbol with n states, behind total of others,
// and its cost.
//
// REQUIRES: n != 0.
func transit(log uint8, n int16, total int) (transition, int32) {
	if n == 1 || n == -1 {
		return transition{bits: int32(log)<<16 - 1<<log, next: int32(total) - 1}, int32(log) << 8
	}
	most := int32(log) - int32(bits.Len16(uint16(n-1))-1)
	return transition{bits: most<<16 - int32(n)<<most, next: int32(total) - int32(n)}, int32(log)<<8 - log2(uint32(n))
}

// log2 of a number, in 1/256, to a hundredth.
func log2(n uint32) int32 {
	whole := bits.Len32(n) - 1
	x := int64(n)<<16>>whole - 1<<16           // the rest, of 1<<16
	x += x * (1<<16 - x) >> 16 * 3465 / 10_000 // log2(1+x) is about x + .3465x(1-x)
	return int32(whole<<8) + int32(x>>8)
}

// first is the state that the last symbol, which is encoded first, begins with.
func (t *table) first(symbol uint8) uint32 {
	tr := t.symbols[symbol]
	n := (tr.bits + 1<<15) >> 16
	return uint32(t.states[(n<<16-tr.bits)>>n+tr.next])
}

// encode writes what the state must give up for the symbol, and returns the next.
func (t *table) encode(w *bitWriter, state uint32, symbol uint8) uint32 {
	tr := t.symbols[symbol]
	n := (int32(state) + tr.bits) >> 16
	w.add(uint64(state), uint8(n))
	return uint32(t.states[int32(state>>n)+tr.next])
}

// distribute shares 1<<log states out by counts. Each symbol gets one at least,
// so that what the samples lack can be written too.
func distribute(counts []uint32, log uint8) distribution {
	size := 1 << log
	d := distribution{log, make([]int16, len(counts))}
	total, left := uint64(0), size
	for _, n := range counts {
		total += uint64(n)
	}
	for s, n := range counts {
		d.share[s] = -1
		if share := (uint64(n)*uint64(size) + total/2) / max(total, 1); share > 0 {
			d.share[s] = int16(share)
		}
		left -= int(max(d.share[s], 1))
	}
	for ; left != 0; left -= sign(left) { // the largest feels it least
		largest := 0
		for s, n := range d.share {
			if n > d.share[largest] {
				largest = s
			}
		}
		d.share[largest] = max(d.share[largest], 1) + int16(sign(left))
	}
	return d
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// appendDistribution writes the shares: RFC 8878, section 4.1.1. None is 0.
func appendDistribution(dst []byte, d distribution) []byte {
	w := bitWriter{out: dst}
	w.add(uint64(d.log-5), 4)
	remaining, threshold, width := int32(1)<<d.log+1, int32(1)<<d.log, d.log+1
	for _, share := range d.share {
		n := int32(share)
		spared := 2*threshold - 1 - remaining // values that do with a bit less
		remaining -= max(n, -n)
		v := n + 1
		if v >= threshold {
			v += spared
		}
		if v < spared {
			w.add(uint64(v), width-1)
		} else {
			w.add(uint64(v), width)
		}
		for remaining < threshold {
			width--
			threshold >>= 1
		}
	}
	return w.flush()
}
