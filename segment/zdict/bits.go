package zdict

import "encoding/binary"

// bitWriter writes bits from the lowest up, as zstd reads them from the end back.
type bitWriter struct {
	out   []byte
	bits  uint64
	count uint8 // invariant: below 32 between calls
}

// add writes the low n bits of v, at most 32.
func (w *bitWriter) add(v uint64, n uint8) {
	w.bits |= (v & (1<<n - 1)) << (w.count & 63)
	w.count += n
	if w.count >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.count -= 32
	}
}

// flush pads to a byte with zeroes and returns everything.
func (w *bitWriter) flush() []byte {
	for w.count > 0 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
		w.count -= min(w.count, 8)
	}
	w.bits = 0
	return w.out
}
