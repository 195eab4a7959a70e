package format

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/cespare/xxhash/v2"
)

// UUID names a file for ever. It is random.
type UUID [16]byte

func (u UUID) String() string { return hex.EncodeToString(u[:]) }

// Kind says what a bound checksum protects.
type Kind uint64

// The kinds of SPEC.md section 2.
const (
	KindSuperblock   Kind = 1
	KindLogHeader    Kind = 2
	KindFrameHeader  Kind = 3
	KindFrameBody    Kind = 4
	KindLeaf         Kind = 5
	KindRoot         Kind = 6
	KindSegment      Kind = 7
	KindBlock        Kind = 8
	KindIndexPage    Kind = 9
	KindSectionTable Kind = 10
	KindFooter       Kind = 11
	KindLogTrailer   Kind = 12
	KindDataPage     Kind = 13
)

const bindingSize = 48

// Hash is XXH64 with seed 0, H in SPEC.md.
func Hash(b []byte) uint64 { return xxhash.Sum64(b) }

// HashKey is the hash under which a key is found.
func HashKey(key string) uint64 { return xxhash.Sum64String(key) }

// Bind is the checksum of bytes whose hash is sum, bound to a file, an owner's
// nonce and a place. Intact bytes in a wrong place do not match.
func Bind(uuid UUID, kind Kind, nonce, place, sum uint64) uint64 {
	var b [bindingSize]byte
	copy(b[0:16], uuid[:])
	binary.LittleEndian.PutUint64(b[16:], nonce)
	binary.LittleEndian.PutUint64(b[24:], place)
	binary.LittleEndian.PutUint64(b[32:], uint64(kind))
	binary.LittleEndian.PutUint64(b[40:], sum)
	return xxhash.Sum64(b[:])
}

// bind is Bind over the bytes themselves.
func bind(uuid UUID, kind Kind, nonce, place uint64, b []byte) uint64 {
	return Bind(uuid, kind, nonce, place, xxhash.Sum64(b))
}
