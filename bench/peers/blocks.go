package main

import (
	"fmt"
	"os"

	"github.com/klauspost/compress/zstd"

	"ctxdb/engine"
	"ctxdb/format"
)

// blockFloor decodes, from memory and with nothing checked, the very blocks that
// turns of a ctxdb file lie in.
type blockFloor struct {
	f        *os.File
	decoders map[uint64]*zstd.Decoder // by segment
	blocks   []storedBlock
	out      []byte
}

type storedBlock struct {
	id      uint64
	offset  int64
	bytes   []byte
	decoder *zstd.Decoder
}

// floorSegments bounds the decoders that a floor holds at a time.
const floorSegments = 48

// newBlockFloor takes the blocks of those turns, of ids, that lie in one block each.
func newBlockFloor(db *engine.DB, ids []uint64) (*blockFloor, error) {
	f, err := os.Open(db.Path())
	if err != nil {
		return nil, err
	}
	b := &blockFloor{f: f, decoders: map[uint64]*zstd.Decoder{}}
	start := map[uint64]int64{}
	for _, s := range db.Stats().Segments {
		start[s.Number] = s.Offset
	}
	for _, id := range ids {
		where, err := db.Where(engine.TurnID(id))
		if err != nil {
			return nil, err
		}
		w := where[0]
		if len(where) != 1 || w.Codec != "zstd with dictionary" {
			continue
		}
		d, err := b.decoder(w.Segment, start[w.Segment])
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		stored := make([]byte, w.Stored)
		if _, err := f.ReadAt(stored, w.Offset+format.BlockHeaderSize); err != nil {
			return nil, err
		}
		b.blocks = append(b.blocks, storedBlock{id, w.Offset, stored, d})
	}
	if len(b.blocks) == 0 {
		return nil, fmt.Errorf("%s: no turn lies in a block of its own segment's dictionary", db.Path())
	}
	return b, nil
}

// decoder of a segment, whose dictionary is its first block; nil: enough of them.
func (b *blockFloor) decoder(segment uint64, offset int64) (*zstd.Decoder, error) {
	if d, ok := b.decoders[segment]; ok || len(b.decoders) == floorSegments {
		return d, nil
	}
	header := make([]byte, format.BlockHeaderSize)
	at := offset + format.SegmentHeaderSize
	if _, err := b.f.ReadAt(header, at); err != nil {
		return nil, err
	}
	h, ok := format.PeekBlock(header)
	if !ok || h.Stream != format.StreamDictionary {
		return nil, fmt.Errorf("segment %d: no dictionary at offset %d", segment, at)
	}
	stored := make([]byte, h.Stored)
	if _, err := b.f.ReadAt(stored, at+format.BlockHeaderSize); err != nil {
		return nil, err
	}
	plain, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	dictionary, err := plain.DecodeAll(stored, nil)
	if err != nil {
		return nil, fmt.Errorf("dictionary of segment %d: %w", segment, err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDicts(dictionary))
	if err != nil {
		return nil, err
	}
	b.decoders[segment] = d
	return d, nil
}

func (b *blockFloor) decode(i int) error {
	x := &b.blocks[i%len(b.blocks)]
	var err error
	b.out, err = x.decoder.DecodeAll(x.bytes, b.out[:0])
	return err
}

// pread reads a block, its header included, from the page cache.
func (b *blockFloor) pread(i int) error {
	x := &b.blocks[i%len(b.blocks)]
	n := len(x.bytes) + format.BlockHeaderSize
	if cap(b.out) < n {
		b.out = make([]byte, n)
	}
	_, err := b.f.ReadAt(b.out[:n], x.offset)
	return err
}

func (b *blockFloor) Close() error {
	for _, d := range b.decoders {
		d.Close()
	}
	return b.f.Close()
}
