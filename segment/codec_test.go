package segment

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A decoder takes more than one frame and skips what it may; a block must not.
func TestOneFrameOnly(t *testing.T) {
	text := bytes.Repeat([]byte("plaintext of a block "), 300)
	encode := func(dictionary []byte, o ...zstd.EOption) []byte {
		if dictionary != nil {
			o = append(o, zstd.WithEncoderDictRaw(1, dictionary))
		}
		e, err := zstd.NewWriter(nil, append(o, zstd.WithZeroFrames(true))...)
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll(text, nil)
	}
	good := encode(nil, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	windowed := encode(nil, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(false))
	skip := []byte{0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 1, 2}
	n := uint32(len(text))
	for name, c := range map[string]struct {
		b    []byte
		raw  uint32
		dict uint32
		want bool
	}{
		"one frame":            {good, n, 0, true},
		"with a window":        {windowed, n, 0, true},
		"other length":         {good, n - 1, 0, false},
		"checksum":             {encode(nil, zstd.WithSingleSegment(true)), n, 0, false},
		"skippable behind":     {append(bytes.Clone(good), skip...), n, 0, false},
		"skippable before":     {append(bytes.Clone(skip), good...), n, 0, false},
		"two frames":           {append(bytes.Clone(good), good...), n, 0, false},
		"cut":                  {good[:len(good)-1], n, 0, false},
		"trailing byte":        {append(bytes.Clone(good), 0), n, 0, false},
		"dictionary":           {encode(text[:100], zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true)), n, 1, true},
		"dictionary, no codec": {encode(text[:100], zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true)), n, 0, false},
		"no dictionary":        {good, n, 1, false},
	} {
		if got := frameHolds(c.b, c.raw, c.dict); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		for cut := range min(len(c.b), 30) {
			if frameHolds(c.b[:cut], c.raw, c.dict) {
				t.Errorf("%s: %d bytes of it are a frame", name, cut)
			}
		}
	}
}

func TestInterpolate(t *testing.T) {
	top := ^uint64(0)
	for _, c := range []struct {
		hash, low, high uint64
		n, want         int
	}{
		{0, 0, top, 10, 0}, {top, 0, top, 10, 9}, {top - 1, 0, top, 10, 9}, {1 << 63, 0, top, 10, 5},
		{7, 7, 7, 3, 0}, {9, 7, 7, 3, 0}, {5, 7, 3, 3, 0}, {top / 4, 0, top, 1 << 20, 1<<18 - 1},
	} {
		if got := interpolate(c.hash, c.low, c.high, c.n); got != c.want {
			t.Errorf("%d in %d to %d of %d: %d, want %d", c.hash, c.low, c.high, c.n, got, c.want)
		}
	}
}
