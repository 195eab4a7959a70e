package format

import (
	"bytes"
	"encoding/binary"
)

const (
	// LogEdge is the size of a log extent's header, and of its trailer.
	LogEdge = 512
	// MaxLogExtent bounds a log extent, in bytes: recovery holds one in memory.
	MaxLogExtent = 64 << 20
)

var (
	logHeaderMagic  = []byte("ctxlogh\n")
	logTrailerMagic = []byte("ctxlogt\n")
)

// EncodeLogEdge returns the header of a log extent, or its trailer.
func EncodeLogEdge(uuid UUID, x LogExtent, trailer bool) []byte {
	b := make([]byte, LogEdge)
	magic, kind, at := logEdge(x, trailer)
	le := binary.LittleEndian
	copy(b[0:8], magic)
	copy(b[8:24], uuid[:])
	le.PutUint64(b[24:], x.Cycle)
	le.PutUint64(b[32:], x.Salt)
	le.PutUint64(b[40:], uint64(x.Offset))
	le.PutUint64(b[48:], uint64(x.Length))
	le.PutUint64(b[56:], bind(uuid, kind, x.Salt, uint64(at), b[:56]))
	return b
}

// CheckLogEdge holds a header or trailer against the extent that the
// superblock names. It must be exactly that: an extent is prepared before it
// is named, so anything else was copied while written, or is damaged.
func CheckLogEdge(b []byte, uuid UUID, x LogExtent, trailer bool) error {
	_, _, at := logEdge(x, trailer)
	region := "log header"
	if trailer {
		region = "log trailer"
	}
	if len(b) >= LogEdge && bytes.Equal(b[:64], EncodeLogEdge(uuid, x, trailer)[:64]) {
		return nil
	}
	if cycle, ok := logEdgeCycle(b, uuid, x, trailer); ok && cycle != x.Cycle {
		return Corruptf(region, at, "cycle %d where the superblock expects %d: this is a copy that was made while the file was written; copy it again when it is closed", cycle, x.Cycle)
	}
	return Corruptf(region, at, "not the log extent that the superblock names: copied while the file was written, or damaged")
}

// logEdgeCycle reads the cycle of an intact header or trailer of this file that
// was written where x lies, for whichever use of the space.
func logEdgeCycle(b []byte, uuid UUID, x LogExtent, trailer bool) (uint64, bool) {
	magic, kind, at := logEdge(x, trailer)
	if len(b) < LogEdge || !bytes.Equal(b[0:8], magic) {
		return 0, false
	}
	le := binary.LittleEndian
	return le.Uint64(b[24:]), bind(uuid, kind, le.Uint64(b[32:]), uint64(at), b[:56]) == le.Uint64(b[56:])
}

func logEdge(x LogExtent, trailer bool) (magic []byte, kind Kind, at int64) {
	if trailer {
		return logTrailerMagic, KindLogTrailer, x.Offset + x.Length - LogEdge
	}
	return logHeaderMagic, KindLogHeader, x.Offset
}

// FrameHeaderSize is the size of a frame's header; FrameAlign the alignment of
// frames.
const (
	FrameHeaderSize = 64
	FrameAlign      = 8
)

// FrameType says what a frame carries. Zero is invalid, so that zero-filled
// space is no frame.
type FrameType uint8

const (
	FrameTurns    FrameType = 1   // a batch
	FramePromise  FrameType = 2   // nothing but its promise
	FrameOptional FrameType = 128 // this and above: may be skipped and dropped
)

// Frame is the header of one log record.
type Frame struct {
	Type     FrameType
	Length   uint32 // of the payload, in bytes
	LSN      LSN
	Promised LSN    // the last LSN whose sync had returned when this was laid out
	FirstID  uint64 // of the first turn; in a promise the next id to be given
	Count    uint64 // of turns
	Salt     uint64
	HeadSum  uint64
	BodySum  uint64
}

// FrameSize is the space that a frame with a payload of n bytes takes.
func FrameSize(n int) int64 {
	return (FrameHeaderSize + int64(n) + FrameAlign - 1) &^ (FrameAlign - 1)
}

// PutFrame writes the header of a frame over dst[:FrameHeaderSize]; the payload
// is already behind it: dst[FrameHeaderSize:FrameHeaderSize+f.Length]. at is
// the absolute offset that the frame will have. The sums of f are set.
func PutFrame(dst []byte, uuid UUID, at int64, f *Frame) {
	le := binary.LittleEndian
	clear(dst[:8])
	dst[0] = byte(f.Type)
	le.PutUint32(dst[4:], f.Length)
	le.PutUint64(dst[8:], uint64(f.LSN))
	le.PutUint64(dst[16:], uint64(f.Promised))
	le.PutUint64(dst[24:], f.FirstID)
	le.PutUint64(dst[32:], f.Count)
	le.PutUint64(dst[40:], f.Salt)
	f.HeadSum = bind(uuid, KindFrameHeader, f.Salt, uint64(at), dst[:48])
	le.PutUint64(dst[48:], f.HeadSum)
	f.BodySum = frameBodySum(dst, uuid, at, f)
	le.PutUint64(dst[56:], f.BodySum)
}

// frameBodySum binds the payload to its header through the header's sum.
func frameBodySum(b []byte, uuid UUID, at int64, f *Frame) uint64 {
	return bind(uuid, KindFrameBody, f.HeadSum, uint64(at), b[FrameHeaderSize:FrameHeaderSize+int(f.Length)])
}

// DecodeFrame reads the frame header at the absolute offset at. ok is false
// when there is no frame of this salt: zeros, leftovers, damage. room is what
// the extent has left from at to its trailer; a frame that would not fit is
// none.
func DecodeFrame(b []byte, uuid UUID, salt uint64, at, room int64) (f Frame, ok bool) {
	if len(b) < FrameHeaderSize || b[0] == 0 {
		return Frame{}, false
	}
	le := binary.LittleEndian
	if le.Uint64(b[40:]) != salt {
		return Frame{}, false
	}
	f = Frame{
		Type:     FrameType(b[0]),
		Length:   le.Uint32(b[4:]),
		LSN:      LSN(le.Uint64(b[8:])),
		Promised: LSN(le.Uint64(b[16:])),
		FirstID:  le.Uint64(b[24:]),
		Count:    le.Uint64(b[32:]),
		Salt:     salt,
		HeadSum:  le.Uint64(b[48:]),
		BodySum:  le.Uint64(b[56:]),
	}
	if bind(uuid, KindFrameHeader, salt, uint64(at), b[:48]) != f.HeadSum {
		return Frame{}, false
	}
	return f, f.valid(room)
}

// valid holds the fields against the rules of SPEC.md section 6.
func (f *Frame) valid(room int64) bool {
	switch {
	case FrameHeaderSize+int64(f.Length) > room || f.LSN == 0 || f.Promised >= f.LSN:
		return false
	case f.FirstID == 0 || f.FirstID > MaxTurns+1 || f.Count > MaxTurns+1-f.FirstID:
		return false
	case f.Type == FrameTurns:
		return f.Count > 0 && f.Count <= uint64(f.Length)
	case f.Type == FramePromise:
		return f.Count == 0 && f.Length == 0
	}
	return f.Type >= FrameOptional && f.Count == 0
}

// BodyIntact reports whether the payload behind the header in b is what was
// written. b begins with the header.
//
// REQUIRES: f was decoded from b at the same offset.
func (f *Frame) BodyIntact(b []byte, uuid UUID, at int64) bool {
	return int64(len(b)) >= FrameHeaderSize+int64(f.Length) && frameBodySum(b, uuid, at, f) == f.BodySum
}
