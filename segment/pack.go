package segment

import (
	"ctxdb/format"
)

// packer cuts turns into pieces and gathers them into the plaintext of blocks.
type packer struct {
	target int // bytes of plaintext, about
	full   fullBlock

	plaintext []byte
	first     blockKey
}

// fullBlock takes the plaintext of a block; it is valid until fullBlock returns.
type fullBlock func(first blockKey, plaintext []byte) error

// pieceHeader is the most that a piece adds to its bytes: four uvarints.
const pieceHeader = 5 + 5 + 3 + 4

// content packs the turns' meta parts and contents.
func (p *packer) content(turns []Turn, full fullBlock) error {
	p.full = full
	for i := range turns {
		rest := turns[i].Content
		piece := format.Piece{Turn: uint32(i), Meta: turns[i].Meta}
		for {
			end := format.PartEnd(rest)
			piece.Data = rest[:end]
			if err := p.add(&piece); err != nil {
				return err
			}
			if rest = rest[end:]; len(rest) == 0 {
				break
			}
			piece.Part++
			piece.Meta = nil
		}
	}
	return p.flush()
}

// source packs the encoded sources of the turns that have one.
func (p *packer) source(turns []Turn, full fullBlock) error {
	p.full = full
	var encoded []byte
	for i := range turns {
		if turns[i].Source == nil {
			continue
		}
		encoded = format.EncodeSource(encoded[:0], turns[i].Source, turns[i].Content)
		piece := format.Piece{Turn: uint32(i)}
		for rest := encoded; len(rest) > 0; piece.Part++ {
			n := min(len(rest), format.SourcePartSize)
			piece.Data = rest[:n]
			if err := p.add(&piece); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return p.flush()
}

func (p *packer) add(piece *format.Piece) error {
	size := pieceHeader + len(piece.Meta) + len(piece.Data)
	if len(p.plaintext) > 0 && len(p.plaintext)+size > p.target {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if len(p.plaintext) == 0 {
		p.first = makeBlockKey(piece.Turn, piece.Part)
	}
	p.plaintext = format.AppendPiece(p.plaintext, uint32(p.first>>32), piece)
	return nil
}

func (p *packer) flush() error {
	if len(p.plaintext) == 0 {
		return nil
	}
	err := p.full(p.first, p.plaintext)
	p.plaintext = p.plaintext[:0]
	return err
}
