package replay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Three items of 10 come one by one, then the first leaves.
func TestMoneyByHand(t *testing.T) {
	l := newLedger(Prices{Read: 1, Write: 10, Request: 7})
	for i := range Item(3) {
		l.enter(page{item: i}, 10)
		l.made(10)
		l.send()
	}
	l.leave(page{item: 0})
	l.send()
	m := l.bill(2)
	want := Money{
		Reads:    10 + 20,             // before steps 2 and 3
		Writes:   3*100 + 2*100,       // new, and what stood behind the first
		Rewrites: 2 * 100,             // the latter
		Requests: 14,                  //
		Total:    30 + 500 + 14,       //
		KeepAll:  300 + 10 + 20 + 30., // nothing leaves, so step 4 reads all
	}
	if m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
}

// The ledger agrees with one that compares whole prompts.
func TestMoneyAgainstWholePrompts(t *testing.T) {
	prices := Prices{Read: 1, Write: 12.5}
	seeds(t, 100, func(t *testing.T, rng *rand.Rand) {
		l := newLedger(prices)
		var before, now []line
		var reads, writes, rewrites float64
		sent := map[page]bool{}
		for i := range 300 {
			for range rng.IntN(4) {
				if n := len(now); n > 0 && rng.IntN(2) == 0 {
					at := rng.IntN(n)
					l.leave(now[at].page)
					delete(sent, now[at].page)
					now = append(now[:at:at], now[at+1:]...)
				} else {
					it := line{page: page{item: Item(i), part: uint32(n)}, size: rng.Int64N(20)}
					known := false
					for _, has := range now {
						known = known || has.page == it.page
					}
					if known {
						continue
					}
					l.enter(it.page, it.size)
					now = append(now[:n:n], it)
				}
			}
			same := 0
			for same < min(len(now), len(before)) && now[same] == before[same] {
				same++
			}
			for k, it := range now {
				if k < same {
					reads += float64(it.size) * prices.Read
				} else {
					writes += float64(it.size) * prices.Write
					if sent[it.page] {
						rewrites += float64(it.size) * prices.Write
					}
				}
				sent[it.page] = true
			}
			l.send()
			before = now
		}
		if m := l.bill(0); math.Abs(m.Reads-reads) > slack || math.Abs(m.Writes-writes) > slack || math.Abs(m.Rewrites-rewrites) > slack {
			t.Errorf("reads %g, writes %g, rewrites %g; whole prompts give %g, %g and %g", m.Reads, m.Writes, m.Rewrites, reads, writes, rewrites)
		}
	})
}
