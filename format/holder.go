package format

import (
	"bytes"
	"encoding/binary"
	"time"
)

// HolderSize is the size of the holder block, at HolderOffset.
const HolderSize = 4096

var holderMagic = []byte("ctxhold\n")

// Holder says who holds the writer's lock. It is believed only while the lock
// is held.
type Holder struct {
	PID   uint64
	Since time.Time
	Host  string // cut to 255 bytes
}

// Encode returns the 4,096 bytes of the holder block.
func (h Holder) Encode() []byte {
	b := make([]byte, HolderSize)
	copy(b[0:8], holderMagic)
	binary.LittleEndian.PutUint64(b[8:], h.PID)
	binary.LittleEndian.PutUint64(b[16:], uint64(h.Since.UnixNano()))
	n := copy(b[26:26+255], h.Host)
	binary.LittleEndian.PutUint16(b[24:], uint16(n))
	binary.LittleEndian.PutUint64(b[4088:], Hash(b[:4088]))
	return b
}

// DecodeHolder reads a holder block; ok is false when it holds nothing that
// can be believed.
func DecodeHolder(b []byte) (h Holder, ok bool) {
	if len(b) < HolderSize || !bytes.Equal(b[0:8], holderMagic) || Hash(b[:4088]) != binary.LittleEndian.Uint64(b[4088:]) {
		return Holder{}, false
	}
	n := binary.LittleEndian.Uint16(b[24:])
	if n > 255 {
		return Holder{}, false
	}
	return Holder{
		PID:   binary.LittleEndian.Uint64(b[8:]),
		Since: time.Unix(0, int64(binary.LittleEndian.Uint64(b[16:]))),
		Host:  string(b[26 : 26+int(n)]),
	}, true
}
