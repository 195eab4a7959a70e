package engine

import (
	"encoding/binary"
	"errors"
)

// errAside: bytes of the aside that nothing here writes. It never leaves the
// package: the aside is ignored then, and a warning says so.
var errAside = errors.New("engine: the aside breaks its rules")

// Kinds of entries in the aside.
const (
	asideWindow = 1
	asideTrace  = 2
)

// maxWindowName bounds the name of a window, in bytes.
const maxWindowName = 1 << 10

// asideEntry is one entry of the aside.
type asideEntry struct {
	kind uint64
	b    []byte
}

func appendAsideEntry(b []byte, kind uint64, entry []byte) []byte {
	b = binary.AppendUvarint(b, kind)
	b = binary.AppendUvarint(b, uint64(len(entry)))
	return append(b, entry...)
}

// decodeAside splits an aside into its entries, which alias b.
func decodeAside(b []byte) (all []asideEntry, err error) {
	d := asideDecoder{b: b}
	for len(d.b) > 0 && d.err == nil {
		e := asideEntry{kind: d.uvarint()}
		e.b = d.bytes(d.uvarint())
		all = append(all, e)
	}
	return all, d.err
}

// asideDecoder reads fields off b. After the first that breaks a rule every
// field is zero.
type asideDecoder struct {
	b   []byte
	err error
}

func (d *asideDecoder) fail() { d.err, d.b = errAside, nil }

// end is the error of a decoder whose input should have ended.
func (d *asideDecoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return d.err
}

func (d *asideDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *asideDecoder) varint() int64 {
	u := d.uvarint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

// within reads a uvarint from low to high.
func (d *asideDecoder) within(low, high uint64) uint64 {
	v := d.uvarint()
	if v < low || v > high {
		d.fail()
		return 0
	}
	return v
}

// count reads the number of elements that take at least size bytes each, so
// that what is allocated for them is bounded by the input.
func (d *asideDecoder) count(size int) int { return int(d.within(0, uint64(len(d.b)/size))) }

func (d *asideDecoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	s := d.b[:n:n]
	d.b = d.b[n:]
	return s
}

func (d *asideDecoder) uint64() uint64 {
	if s := d.bytes(8); len(s) == 8 {
		return binary.LittleEndian.Uint64(s)
	}
	return 0
}

func (d *asideDecoder) string(limit uint64) string { return string(d.bytes(d.within(0, limit))) }

func appendAsideString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
