package segment

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

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

// packed is a block on its way to an encoder.
type packed struct {
	at        int // in compressed.blocks
	first     blockKey
	plaintext []byte
}

// add packs turns into blocks and compresses each, with as many goroutines as
// there are encoders. What becomes of a block depends on nothing but its text.
func (c *compressed) add(crew []*encoder, pack func([]Turn, fullBlock) error, turns []Turn) {
	queue := make(chan packed, len(crew))
	used := make(chan []byte, 2*len(crew)+1) // for texts, to be used again
	for range cap(used) {
		used <- nil
	}
	var mu sync.Mutex // of c
	var group sync.WaitGroup
	for _, e := range crew {
		group.Go(func() {
			for x := range queue {
				p, err := squeeze(e, x.first, x.plaintext)
				mu.Lock()
				c.blocks[x.at] = p
				c.err = cmp.Or(c.err, err)
				mu.Unlock()
				used <- x.plaintext
			}
		})
	}
	err := pack(turns, func(first blockKey, plaintext []byte) error {
		mu.Lock()
		at := len(c.blocks)
		c.blocks = append(c.blocks, squeezed{})
		err := c.err
		mu.Unlock()
		queue <- packed{at, first, append((<-used)[:0], plaintext...)}
		return err
	})
	close(queue)
	group.Wait()
	c.err = cmp.Or(c.err, err)
}

// squeeze compresses a block. The bytes are the caller's. What does not decode
// to the plaintext is stored as it is: a fault of the compressor, a panic
// included, must not keep what is acknowledged from being put away, today and for
// ever.
func squeeze(e *encoder, first blockKey, plaintext []byte) (squeezed, error) {
	var stored []byte
	var codec format.Codec
	right := false
	if !spared(func() {
		stored, codec = e.encode(plaintext)
		right = e.verified(plaintext, stored, codec)
	}) || !right {
		stored, codec = plaintext, format.CodecRaw
	}
	p := squeezed{first, len(plaintext), slices.Clone(stored), codec}
	if codec == format.CodecRaw && !e.verified(plaintext, p.stored, codec) {
		return squeezed{}, fmt.Errorf("%w: the block of %d bytes that begins with turn %d, part %d", ErrBuild, len(plaintext), first>>32, uint32(first))
	}
	return p, nil
}

// spared runs what a compressor does and reports whether it came to its end: a
// panic ends it alone. Nobody could recover that in the goroutines that compress,
// and every next Open would meet it again.
func spared(f func()) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	f()
	return true
}
