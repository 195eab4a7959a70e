package format

import (
	"strings"
	"testing"
)

// Only an intact header of another cycle shows that the file was copied while
// it was written. A damaged one shows nothing.
func TestLogEdgeTellsCopyFromDamage(t *testing.T) {
	x, later := fixExtent(), fixExtent()
	later.Cycle++
	later.Salt++
	for _, trailer := range []bool{false, true} {
		copied := EncodeLogEdge(fixUUID, later, trailer)
		damaged := EncodeLogEdge(fixUUID, x, trailer)
		damaged[24] ^= 1 // of the cycle
		for _, c := range []struct {
			b    []byte
			want string
		}{{copied, "this is a copy"}, {damaged, "or damaged"}} {
			err := CheckLogEdge(c.b, fixUUID, x, trailer)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("trailer %v: got %v, want %q", trailer, err, c.want)
			}
		}
	}
}

func TestFrameSizeIsAligned(t *testing.T) {
	for n := range 40 {
		size := FrameSize(n)
		if size%FrameAlign != 0 || size < FrameHeaderSize+int64(n) || size >= FrameHeaderSize+int64(n)+FrameAlign {
			t.Errorf("a frame of %d bytes takes %d", n, size)
		}
	}
}
