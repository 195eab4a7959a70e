package segment

import (
	"context"
	"errors"
	"slices"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

const (
	walkChunk = 128 << 10 // bytes that are read at once
	// walkSearch bounds what is hashed in search of the next block behind damage,
	// in lengths of the segment: crafted bytes could look like a block everywhere.
	walkSearch = 8
)

// walker goes through a stretch of blocks by their headers, without any index.
// Behind damage it goes on at the next block that is intact.
type walker struct {
	s       *Segment
	at, end int64 // of what was not looked at yet, from the start of the segment
	decoder func() (*zstd.Decoder, error)
	// onBlock sees each intact block, onDamage all else; nil: nobody asks.
	onBlock  func(h *format.BlockHeader, offset int64)
	onDamage func(error)

	buffer []byte // bytes of the segment from start
	start  int64
	raw    []byte
	budget int64 // bytes that may still be hashed in searches
	done   bool  // the search was given up
}

func (s *Segment) newWalker(from, end int64, decoder func() (*zstd.Decoder, error)) *walker {
	return &walker{s: s, at: from, end: end, decoder: decoder, budget: walkSearch*s.length + 4*format.MaxBlockRaw}
}

// next returns the header and plaintext of the next intact block, valid until
// the call after. An error that is a CorruptError describes what was skipped; the
// walk goes on. Any other error ends it. ok is false at the end.
func (w *walker) next() (h format.BlockHeader, raw []byte, ok bool, err error) {
	if w.at >= w.end || w.done {
		return h, nil, false, nil
	}
	offset := w.at
	h, stored, err := w.block(offset)
	if err != nil {
		if !errors.Is(err, format.ErrCorrupt) {
			return h, nil, false, err
		}
		if failed := w.resync(); failed != nil {
			return h, nil, false, failed
		}
		return h, nil, true, err
	}
	w.at += format.BlockSize(int(h.Stored))
	raw, err = w.decode(&h, stored, offset)
	if err == nil && w.onBlock != nil {
		w.onBlock(&h, offset)
	}
	return h, raw, true, err
}

// block reads and verifies the block at an offset.
func (w *walker) block(offset int64) (format.BlockHeader, []byte, error) {
	b, err := w.bytes(offset, format.BlockHeaderSize)
	if err != nil {
		return format.BlockHeader{}, nil, err
	}
	if h, ok := format.PeekBlock(b); ok && int64(h.Stored) <= w.end-offset-format.BlockHeaderSize {
		if b, err = w.bytes(offset, format.BlockHeaderSize+int64(h.Stored)); err != nil {
			return h, nil, err
		}
	}
	h, err := format.DecodeBlock(b, w.s.uuid, w.s.entry.Nonce, offset, w.s.offset)
	return h, b[min(format.BlockHeaderSize, len(b)):], err
}

// bytes returns n bytes from offset, fewer at the end of the stretch.
func (w *walker) bytes(offset, n int64) ([]byte, error) {
	n = min(n, w.end-offset)
	if offset < w.start || offset+n > w.start+int64(len(w.buffer)) {
		size := min(max(n, walkChunk), w.end-offset)
		w.buffer = slices.Grow(w.buffer[:0], int(size))[:size]
		w.start = offset
		if err := w.s.read(w.buffer, offset); err != nil {
			w.buffer = w.buffer[:0]
			return nil, err
		}
	}
	return w.buffer[offset-w.start : offset-w.start+n], nil
}

func (w *walker) decode(h *format.BlockHeader, stored []byte, offset int64) ([]byte, error) {
	if h.Stream == format.StreamDictionary {
		return nil, nil
	}
	d := plainDecoder()
	if h.Codec == format.CodecZstdDict {
		var err error
		if d, err = w.decoder(); err != nil {
			return nil, err
		}
	}
	out, ok := decodeStored(w.raw, stored, h.Codec, h.Raw, d)
	if !ok {
		return nil, format.Corruptf("block", w.s.offset+offset, "%d stored bytes do not decode to %d", h.Stored, h.Raw)
	}
	if h.Codec != format.CodecRaw {
		w.raw = out
	}
	return out, nil
}

// resync moves to the next intact block, or to the end.
func (w *walker) resync() error {
	for w.at += format.BlockAlign; w.at < w.end; w.at += format.BlockAlign {
		b, err := w.bytes(w.at, format.BlockHeaderSize)
		if err != nil {
			return err
		}
		h, ok := format.PeekBlock(b)
		if !ok {
			continue
		}
		if w.budget -= int64(h.Stored); w.budget < 0 {
			w.done = true
			return nil
		}
		if _, _, err := w.block(w.at); err == nil {
			return nil
		} else if !errors.Is(err, format.ErrCorrupt) {
			return err
		}
	}
	return nil
}

// pieces is the pieces of one stream, in order, over the blocks of a walker.
type pieces struct {
	w      *walker
	stream format.Stream
	sc     scratch // of the block that is being taken apart
	stash  *format.Piece
	damage error // the last that was met and not yet told
}

// next returns the next piece; its bytes are valid until the call after. ok is
// false at the end. Damage is remembered and skipped; an error ends the walk.
func (p *pieces) next(ctx context.Context) (format.Piece, bool, error) {
	if p.stash != nil {
		piece := *p.stash
		p.stash = nil
		return piece, true, nil
	}
	for {
		if len(p.sc.rest) > 0 {
			if piece, ok := p.sc.take(p.stream); ok {
				return piece, true, nil
			}
			p.damaged(format.Corruptf("block", p.sc.at, "pieces break the rules"))
			p.sc.rest = nil
		}
		if err := ctx.Err(); err != nil {
			return format.Piece{}, false, err
		}
		offset := p.w.at
		h, raw, ok, err := p.w.next()
		if err != nil && !errors.Is(err, format.ErrCorrupt) || !ok {
			return format.Piece{}, false, err
		}
		if err != nil {
			p.damaged(err)
			continue
		}
		if h.Stream == p.stream {
			p.sc.enter(&h, raw, p.w.s.offset+offset)
		}
	}
}

func (p *pieces) damaged(err error) {
	p.damage = err
	if p.w.onDamage != nil {
		p.w.onDamage(err)
	}
}

func (p *pieces) unread(piece format.Piece) { p.stash = &piece }

// lost tells the damage since the last call, or says that turns are missing.
func (p *pieces) lost() error {
	err := p.damage
	p.damage = nil
	if err == nil {
		err = format.Corruptf("block", p.w.s.offset+p.w.at, "turns are missing")
	}
	return p.w.s.located(err)
}
