package fuzz

import (
	"fmt"
	"testing"
	"time"

	"ctxdb/format"
	"ctxdb/fuzz/trial"
)

// damage changes a copy of a file in the i-th way, and says where.
type damage func(b []byte, i int) (out []byte, from, to int64)

// attacks runs n ways of damage, or one in step of them, and reports. share: see
// attack.
func attacks(t *testing.T, v *victim, what string, n, step int, skip func(i int) bool, do damage) {
	t.Helper()
	start, tried, skipped := time.Now(), 0, 0
	var o outcome
	b := make([]byte, len(v.bytes))
	for i := seeded(uint64(step)).IntN(step); i < n; i += step {
		share := -1
		if skip != nil {
			if skip(i) {
				skipped++
				continue
			}
			share = i % 4
		}
		copy(b, v.bytes)
		out, from, to := do(b, i)
		if err := v.attack(out, from, to, share, &o); err != nil {
			t.Fatalf("%s %d (bytes %d to %d): %v", what, i, from, to, err)
		}
		if tried++; tried%50_000 == 0 {
			t.Logf("%s: %d of %d, %v", what, i, n, time.Since(start).Round(time.Second))
		}
	}
	t.Logf("%s: %d of %d tried, %d are never read, %d refused, %d with damaged turns, %d read whole; %v", what, tried, n, skipped, o.refused, o.damaged, o.whole, time.Since(start).Round(time.Millisecond))
}

func TestHostileFiles(t *testing.T) {
	turns, long := 65, true
	if *full {
		turns, long = 30, false // each bit counts, and each turn takes time; still 64 KiB are read
	}
	v, err := makeVictim(turns, long)
	if err != nil {
		t.Fatal(err)
	}
	asked, read, err := v.asked()
	if err != nil {
		t.Fatal(err)
	}
	size := len(v.bytes)
	if read < 64<<10 || v.tail == 0 || v.ends[0] > 0 {
		t.Fatalf("the file has %d bytes, %d of them are read, its log ends at %d", size, read, v.tail)
	}
	t.Logf("the file has %d bytes, of which %d are read; %d turns, a log that ends at %d", size, read, v.model.visible, v.tail)
	part := func(step int) int {
		switch {
		case *full:
			return 1
		case trial.Brief():
			return 4 * step
		}
		return step
	}
	attacks(t, v, "bits flipped", 8*size, part(2003), func(i int) bool { return !asked[i/8] }, func(b []byte, i int) ([]byte, int64, int64) {
		b[i/8] ^= 1 << (i % 8)
		return b, int64(i / 8), int64(i/8) + 1
	})
	attacks(t, v, "what is never read inverted", 1, 1, nil, func(b []byte, i int) ([]byte, int64, int64) {
		for at := range b {
			if !asked[at] {
				b[at] ^= 0xff
			}
		}
		return b, 0, 0
	})
	attacks(t, v, "lengths cut", size, part(401), nil, func(b []byte, i int) ([]byte, int64, int64) {
		return b[:i], int64(i), int64(size)
	})
	for _, unit := range []int{512, 4096} {
		blocks := size / unit
		attacks(t, v, fmt.Sprintf("%d-byte blocks zeroed", unit), blocks, part(3), nil, func(b []byte, i int) ([]byte, int64, int64) {
			clear(b[i*unit : (i+1)*unit])
			return b, int64(i * unit), int64((i + 1) * unit)
		})
		attacks(t, v, fmt.Sprintf("%d-byte blocks swapped", unit), blocks, part(3), nil, func(b []byte, i int) ([]byte, int64, int64) {
			j := (i + 1 + i*i%max(blocks-1, 1)) % blocks
			copy(b[i*unit:(i+1)*unit], v.bytes[j*unit:])
			copy(b[j*unit:(j+1)*unit], v.bytes[i*unit:])
			return b, int64(min(i, j) * unit), int64(max(i, j)+1) * int64(unit)
		})
	}
}

// damageLog flips every bit of a short log, in no order, and returns the first
// complaint.
func damageLog() error {
	v, err := makeVictim(20, false)
	if err != nil {
		return err
	}
	first := v.tail
	for _, at := range v.ends {
		if at > 0 {
			first = min(first, at)
		}
	}
	var o outcome
	n := 8 * (v.tail + format.FrameHeaderSize - first)
	const stride = 1_000_003 // a prime beyond any log: each bit comes once
	for k := range n / int64(amount(16, 4, 1)) {
		i := 8*first + k*stride%n
		b := append([]byte(nil), v.bytes...)
		b[i/8] ^= 1 << (i % 8)
		if err := v.attack(b, i/8, i/8+1, int(i%4), &o); err != nil {
			return fmt.Errorf("bit %d: %w", i, err)
		}
	}
	return nil
}

// TestDamageLog is the control of what TestMutant relies on.
func TestDamageLog(t *testing.T) {
	if err := damageLog(); err != nil {
		t.Error(err)
	}
}
