package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Where the leading blocks lie, and where extents begin.
const (
	SuperblockSize = 4096
	SlotA          = 0
	SlotB          = 4096
	HolderOffset   = 8192
	FirstExtent    = 12288
	ExtentAlign    = 4096

	// Major is the version of the format that this package writes and reads.
	Major = 1

	MaxLogExtents = 8
	logEntrySize  = 64
	MinLogExtent  = 16384
)

// superMagic is no text, and any newline translation changes it.
var superMagic = [8]byte{0x89, 'C', 'T', 'X', '\r', '\n', 0x1a, '\n'}

// State says what a superblock promises about the file.
type State uint32

const (
	StateCreating State = 1 // an empty file was claimed; creation may be started over
	StateClosed   State = 2 // every turn is in a segment; there is no log
	StateOpen     State = 3 // there is a log: a writer is at work, or died
)

func (s State) String() string {
	switch s {
	case StateCreating:
		return "creating"
	case StateClosed:
		return "closed"
	case StateOpen:
		return "open"
	}
	return fmt.Sprintf("state %d", uint32(s))
}

// LSN is a position in the log: frames are numbered without gaps from 1.
type LSN uint64

// LogExtent names a byte range used for frames.
type LogExtent struct {
	Offset   int64  // in the file, a multiple of ExtentAlign
	Length   int64  // in bytes
	Cycle    uint64 // this use of the space
	Salt     uint64 // carried by its frames
	FirstLSN LSN    // of its first frame, 0 where not known yet
}

// Superblock is the root record of the file.
type Superblock struct {
	Major, Minor     uint16
	State            State
	OptionalFeatures uint64
	WriteFeatures    uint64
	RequiredFeatures uint64
	UUID             UUID
	Epoch            uint64
	Nonce            uint64
	Created          int64 // nanoseconds since 1970 UTC
	NextID           uint64
	NextLSN          LSN
	NextSegment      uint64
	NextCycle        uint64
	RootOffset       int64
	RootLength       int64
	RootSum          uint64
	End              int64
	Log              []LogExtent
}

// Encode returns the 4,096 bytes of the superblock for a slot, SlotA or SlotB.
//
// REQUIRES: len(s.Log) <= MaxLogExtents.
func (s *Superblock) Encode(slot int64) []byte {
	b := make([]byte, SuperblockSize)
	le := binary.LittleEndian
	copy(b[0:8], superMagic[:])
	le.PutUint16(b[8:], s.Major)
	le.PutUint16(b[10:], s.Minor)
	le.PutUint32(b[12:], uint32(s.State))
	le.PutUint64(b[16:], s.OptionalFeatures)
	le.PutUint64(b[24:], s.WriteFeatures)
	le.PutUint64(b[32:], s.RequiredFeatures)
	copy(b[40:56], s.UUID[:])
	le.PutUint64(b[56:], s.Epoch)
	le.PutUint64(b[64:], s.Nonce)
	le.PutUint64(b[72:], uint64(s.Created))
	le.PutUint64(b[80:], s.NextID)
	le.PutUint64(b[88:], uint64(s.NextLSN))
	le.PutUint64(b[96:], s.NextSegment)
	le.PutUint64(b[104:], s.NextCycle)
	le.PutUint64(b[112:], uint64(s.RootOffset))
	le.PutUint64(b[120:], uint64(s.RootLength))
	le.PutUint64(b[128:], s.RootSum)
	le.PutUint64(b[136:], uint64(s.End))
	le.PutUint32(b[144:], uint32(len(s.Log)))
	for i, x := range s.Log {
		x.encode(b[152+i*logEntrySize:])
	}
	le.PutUint64(b[4088:], bind(s.UUID, KindSuperblock, s.Epoch, uint64(slot), b[:4088]))
	return b
}

func (x LogExtent) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(x.Offset))
	le.PutUint64(b[8:], uint64(x.Length))
	le.PutUint64(b[16:], x.Cycle)
	le.PutUint64(b[24:], x.Salt)
	le.PutUint64(b[32:], uint64(x.FirstLSN))
}

func decodeLogExtent(b []byte) LogExtent {
	le := binary.LittleEndian
	return LogExtent{
		Offset:   int64(le.Uint64(b[0:])),
		Length:   int64(le.Uint64(b[8:])),
		Cycle:    le.Uint64(b[16:]),
		Salt:     le.Uint64(b[24:]),
		FirstLSN: LSN(le.Uint64(b[32:])),
	}
}

// DecodeSuperblock reads the superblock of a slot. Its error is ErrNotCtxdb
// where the magic is absent, ErrVersion for a newer program's file, and a
// CorruptError for damage.
func DecodeSuperblock(b []byte, slot int64) (Superblock, error) {
	if n := min(len(b), len(superMagic)); !bytes.Equal(b[:n], superMagic[:n]) {
		return Superblock{}, fmt.Errorf("%w: no magic at offset %d", ErrNotCtxdb, slot)
	}
	if len(b) < SuperblockSize {
		return Superblock{}, Corruptf("superblock", slot, "%d of %d bytes", len(b), SuperblockSize)
	}
	s := decodeSuperblock(b)
	if bind(s.UUID, KindSuperblock, s.Epoch, uint64(slot), b[:4088]) != binary.LittleEndian.Uint64(b[4088:]) {
		return Superblock{}, Corruptf("superblock", slot, "checksum differs")
	}
	if s.Major != Major {
		return Superblock{}, fmt.Errorf("%w: the file has format version %d.%d, this program reads %d", ErrVersion, s.Major, s.Minor, Major)
	}
	if s.RequiredFeatures != 0 {
		return Superblock{}, fmt.Errorf("%w: the file needs features %#x, which this program does not know", ErrVersion, s.RequiredFeatures)
	}
	count := binary.LittleEndian.Uint32(b[144:])
	if count > MaxLogExtents {
		return Superblock{}, Corruptf("superblock", slot, "%d log extents, at most %d", count, MaxLogExtents)
	}
	for i := range int(count) {
		s.Log = append(s.Log, decodeLogExtent(b[152+i*logEntrySize:]))
	}
	if err := s.validate(slot); err != nil {
		return Superblock{}, err
	}
	return s, nil
}

// decodeSuperblock reads the fixed fields and checks nothing.
func decodeSuperblock(b []byte) Superblock {
	le := binary.LittleEndian
	s := Superblock{
		Major:            le.Uint16(b[8:]),
		Minor:            le.Uint16(b[10:]),
		State:            State(le.Uint32(b[12:])),
		OptionalFeatures: le.Uint64(b[16:]),
		WriteFeatures:    le.Uint64(b[24:]),
		RequiredFeatures: le.Uint64(b[32:]),
		Epoch:            le.Uint64(b[56:]),
		Nonce:            le.Uint64(b[64:]),
		Created:          int64(le.Uint64(b[72:])),
		NextID:           le.Uint64(b[80:]),
		NextLSN:          LSN(le.Uint64(b[88:])),
		NextSegment:      le.Uint64(b[96:]),
		NextCycle:        le.Uint64(b[104:]),
		RootOffset:       int64(le.Uint64(b[112:])),
		RootLength:       int64(le.Uint64(b[120:])),
		RootSum:          le.Uint64(b[128:]),
		End:              int64(le.Uint64(b[136:])),
	}
	copy(s.UUID[:], b[40:56])
	return s
}

// validate holds the fields against the rules of SPEC.md section 3.
func (s *Superblock) validate(slot int64) error {
	switch {
	case s.State < StateCreating || s.State > StateOpen:
		return Corruptf("superblock", slot, "%v", s.State)
	case s.State == StateCreating && (s.RootOffset != 0 || s.NextID != 1 || s.Epoch != 0):
		return Corruptf("superblock", slot, "state %v in epoch %d, next id %d, root at %d", s.State, s.Epoch, s.NextID, s.RootOffset)
	case (s.State == StateOpen) != (len(s.Log) > 0):
		return Corruptf("superblock", slot, "state %v with %d log extents", s.State, len(s.Log))
	case s.NextID < 1 || s.NextID > MaxTurns+1:
		return Corruptf("superblock", slot, "next id %d", s.NextID)
	case s.NextLSN < 1:
		return Corruptf("superblock", slot, "next LSN %d", s.NextLSN)
	case s.End < FirstExtent || s.End > MaxFile:
		return Corruptf("superblock", slot, "end %d", s.End)
	case s.RootOffset == 0 && s.RootLength != 0:
		return Corruptf("superblock", slot, "a root of %d bytes nowhere", s.RootLength)
	case s.RootOffset != 0 && (!validExtent(s.RootOffset, s.RootLength, s.End) || s.RootLength > maxRoot):
		return Corruptf("superblock", slot, "root of %d bytes at %d", s.RootLength, s.RootOffset)
	}
	spans := []span{{s.RootOffset, s.RootOffset + s.RootLength}} // without a root it is empty
	for i, x := range s.Log {
		spans = append(spans, span{x.Offset, x.Offset + x.Length})
		if !validExtent(x.Offset, x.Length, s.End) || x.Length < MinLogExtent || x.Length > MaxLogExtent {
			return Corruptf("superblock", slot, "log extent %d of %d bytes at %d", i, x.Length, x.Offset)
		}
		if x.Cycle < 1 || i > 0 && x.Cycle <= s.Log[i-1].Cycle || x.Cycle >= s.NextCycle {
			return Corruptf("superblock", slot, "log extent %d has cycle %d", i, x.Cycle)
		}
	}
	if !disjoint(spans) {
		return Corruptf("superblock", slot, "two extents share space")
	}
	return nil
}

// validExtent: aligned, not empty, behind the leading blocks, within end.
func validExtent(offset, length, end int64) bool {
	return offset >= FirstExtent && offset%ExtentAlign == 0 && length > 0 && length%ExtentAlign == 0 &&
		offset <= end && length <= end-offset
}

// AlignUp rounds a length up to whole extent units.
func AlignUp(n int64) int64 { return (n + ExtentAlign - 1) &^ (ExtentAlign - 1) }
