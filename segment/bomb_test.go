package segment

import (
	"encoding/binary"
	"runtime"
	"testing"

	"ctxdb/format"
)

// bomb is a zstd frame of about 32 KB that declares raw bytes and holds a GiB of
// zeros.
func bomb(raw uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0xFD2FB528)
	b = append(b, 0xA0) // one segment, 4 bytes of size
	b = binary.LittleEndian.AppendUint32(b, raw)
	const run, runs = 128 << 10, 8192
	for i := range runs {
		header := uint32(run)<<3 | 1<<1 // one byte, repeated
		if i == runs-1 {
			header |= 1
		}
		b = append(b, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return b
}

// TestDecompressionBomb: what a block's header does not announce is not
// unpacked, and no more than a block may hold is announced.
func TestDecompressionBomb(t *testing.T) {
	plainDecoder() // its own memory is not the bomb's
	for _, raw := range []uint32{300, 100_000, format.MaxBlockRaw, format.MaxBlockRaw + 1, 1 << 30} {
		b := bomb(raw)
		if !frameHolds(b, raw, 0) {
			t.Fatalf("%d bytes: not the frame that it looks like", raw)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, ok := decodeStored(nil, b, format.CodecZstd, raw, plainDecoder())
		runtime.ReadMemStats(&after)
		if ok {
			t.Errorf("a GiB passed as %d bytes", raw)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%d bytes were allocated for a block of %d", n, raw)
		}
	}
}
