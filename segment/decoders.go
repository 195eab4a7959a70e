package segment

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

const (
	// defaultDecoderBytes bounds the cache that segments share by default.
	defaultDecoderBytes = 32 << 20
	// decoderOverhead is what a decoder takes beside its dictionary, in bytes,
	// for each decode that may run at the same time: tables, and a block's buffers.
	decoderOverhead = 16 << 10
	// decodersAtOnce bounds the concurrent decodes of one segment.
	decodersAtOnce = 4
)

// DecoderCache bounds the memory of decoders with a dictionary and of the indexes
// beside them, over all the segments that share it. Which ones stay is decided by
// second chance. A decoder that is evicted while it decodes finishes; the next use
// makes it anew.
type DecoderCache struct {
	budget int64

	mu   sync.Mutex
	used int64          // invariant: sum of cost of ring
	ring []*dictDecoder // invariant: each is reachable from one owner or was dropped
	hand int            // invariant: 0 <= hand <= len(ring)
}

// dictDecoder finds and decodes the content blocks of one segment.
type dictDecoder struct {
	zstd  *zstd.Decoder
	index []byte // a copy of the index pages of content, as they are; nil: none
	cost  int64
	owner *atomic.Pointer[dictDecoder]
	used  atomic.Bool // since the hand passed
}

// NewDecoderCache makes a cache of about budget bytes. A single decoder may
// exceed it.
func NewDecoderCache(budget int64) *DecoderCache {
	return &DecoderCache{budget: budget}
}

var sharedDecoders = sync.OnceValue(func() *DecoderCache { return NewDecoderCache(defaultDecoderBytes) })

// plainDecoder decodes what has no dictionary, for everybody.
var plainDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := newDecoder(nil)
	if err != nil {
		panic("segment: decoder options: " + err.Error()) // they are constants
	}
	return d
})

// newDecoder makes a decoder with a dictionary; nil: without. It fails where the
// bytes are none.
func newDecoder(dictionary []byte) (*zstd.Decoder, error) {
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(min(runtime.GOMAXPROCS(0), decodersAtOnce)),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(format.MaxBlockRaw),
		zstd.WithDecodeAllCapLimit(true),
	}
	if dictionary != nil {
		options = append(options, zstd.WithDecoderDicts(dictionary))
	}
	return zstd.NewReader(nil, options...)
}

// add publishes a decoder with a dictionary of size bytes, and the index beside
// it, at owner, and evicts others.
func (c *DecoderCache) add(owner *atomic.Pointer[dictDecoder], z *zstd.Decoder, size int, index []byte) *dictDecoder {
	cost := int64(size+len(index)) + decoderOverhead*int64(min(runtime.GOMAXPROCS(0), decodersAtOnce))
	d := &dictDecoder{zstd: z, index: index, cost: cost, owner: owner}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !owner.CompareAndSwap(nil, d) {
		if now := owner.Load(); now != nil {
			return now // somebody else was faster
		}
		return d // and it was evicted already: this one serves once
	}
	c.evict(c.budget - cost)
	c.ring = append(c.ring, d)
	c.used += cost
	return d
}

// evict makes room, until no more than limit bytes are used.
func (c *DecoderCache) evict(limit int64) {
	for c.used > limit && len(c.ring) > 0 {
		if c.hand >= len(c.ring) {
			c.hand = 0
		}
		if c.ring[c.hand].used.Swap(false) {
			c.hand++
			continue
		}
		c.remove(c.hand)
	}
}

// remove takes the i-th decoder out; the last one takes its place.
func (c *DecoderCache) remove(i int) {
	d := c.ring[i]
	last := len(c.ring) - 1
	c.ring[i], c.ring[last] = c.ring[last], nil
	c.ring = c.ring[:last]
	c.used -= d.cost
	d.owner.CompareAndSwap(d, nil)
}

// drop forgets the decoder of an owner that is gone.
func (c *DecoderCache) drop(owner *atomic.Pointer[dictDecoder]) {
	if owner.Load() == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, d := range c.ring {
		if d.owner == owner {
			c.remove(i)
			return
		}
	}
}

// Bytes is what the decoders in the cache take, about.
func (c *DecoderCache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}
