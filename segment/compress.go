package segment

import (
	"fmt"
	"slices"

	"ctxdb/format"
)

// squeezed is a block that was compressed, and decoded to see that it is right.
type squeezed struct {
	first  blockKey
	raw    int // bytes of plaintext
	stored []byte
	codec  format.Codec
}

// compressed is the blocks of a stream on their way into a segment.
type compressed struct {
	blocks     []squeezed
	dictionary squeezed // raw 0: none
	err        error
}

// add packs turns into blocks and compresses each.
func (c *compressed) add(e *encoder, pack func([]Turn, fullBlock) error, turns []Turn) {
	c.err = pack(turns, func(first blockKey, plaintext []byte) error {
		p, err := squeeze(e, first, plaintext)
		c.blocks = append(c.blocks, p)
		return err
	})
}

// squeeze compresses a block. The bytes are the caller's. What does not decode
// to the plaintext is stored as it is: a fault of the compressor must not keep
// what is acknowledged from being put away, today and for ever.
func squeeze(e *encoder, first blockKey, plaintext []byte) (squeezed, error) {
	stored, codec := e.encode(plaintext)
	if !e.verified(plaintext, stored, codec) {
		stored, codec = plaintext, format.CodecRaw
	}
	p := squeezed{first, len(plaintext), slices.Clone(stored), codec}
	if codec == format.CodecRaw && !e.verified(plaintext, p.stored, codec) {
		return squeezed{}, fmt.Errorf("%w: the block of %d bytes that begins with turn %d, part %d", ErrBuild, len(plaintext), first>>32, uint32(first))
	}
	return p, nil
}
