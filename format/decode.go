package format

import (
	"encoding/binary"
	"math"
	"time"
)

// decoder reads fields off a byte slice. The first field that breaks a rule
// makes it bad and p stays at its first byte; from then on every field is zero.
//
// invariant: 0 <= p <= len(b).
type decoder struct {
	b   []byte
	p   int
	bad bool
}

// fail makes the decoder bad because of the field that begins at p.
func (d *decoder) fail(p int) {
	if !d.bad {
		d.bad, d.p = true, p
	}
}

// uvarint reads a minimal uvarint.
func (d *decoder) uvarint() uint64 {
	if d.bad {
		return 0
	}
	v, n := binary.Uvarint(d.b[d.p:])
	if n <= 0 || n > 1 && d.b[d.p+n-1] == 0 {
		d.bad = true
		return 0
	}
	d.p += n
	return v
}

// varint reads a minimal zig-zag varint.
func (d *decoder) varint() int64 {
	u := d.uvarint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

// bounded reads a uvarint of at most limit.
func (d *decoder) bounded(limit uint64) uint64 { return d.within(0, limit) }

// within reads a uvarint from lowest to limit.
func (d *decoder) within(lowest, limit uint64) uint64 {
	start := d.p
	v := d.uvarint()
	if d.bad || v < lowest || v > limit {
		d.fail(start)
		return 0
	}
	return v
}

// bytes takes n bytes; they alias the input.
func (d *decoder) bytes(n uint64) []byte {
	if d.bad || n > uint64(len(d.b)-d.p) {
		d.bad = true
		return nil
	}
	s := d.b[d.p : d.p+int(n) : d.p+int(n)]
	d.p += int(n)
	return s
}

func (d *decoder) uint64() uint64 {
	if s := d.bytes(8); s != nil {
		return binary.LittleEndian.Uint64(s)
	}
	return 0
}

func (d *decoder) string(limit uint64) string { return string(d.bytes(d.bounded(limit))) }

// present reads a string that has a flag: without a byte it would have none.
func (d *decoder) present(limit uint64) string { return string(d.bytes(d.within(1, limit))) }

func (d *decoder) strings() []string {
	// An element takes at least one byte, so the count is bounded by what is left.
	n := d.within(1, uint64(len(d.b)-d.p)) // an empty list has no flag
	list := make([]string, 0, min(n, 1024))
	for total := uint64(0); n > 0 && !d.bad; n-- {
		start := d.p
		s := d.string(MaxLabels)
		if total += uint64(len(s)) + 4; total > MaxLabels {
			d.fail(start)
		}
		list = append(list, s)
	}
	return list
}

func (d *decoder) floats() []float32 {
	n := d.within(1, MaxEmbedding)
	s := d.bytes(n * 4)
	if d.bad {
		return nil
	}
	list := make([]float32, n)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(s[i*4:]))
	}
	return list
}

func (d *decoder) time() time.Time {
	start := d.p
	sec, nsec := d.varint(), d.bounded(999_999_999)
	t := time.Unix(sec, int64(nsec))
	if t.IsZero() {
		d.fail(start) // the zero time has no flag
	}
	start = d.p
	zone := d.varint()
	if zone <= -maxZone || zone >= maxZone {
		d.fail(start)
	}
	if d.bad {
		return time.Time{}
	}
	if zone == 0 {
		return t.UTC()
	}
	return t.In(time.FixedZone("", int(zone)))
}
