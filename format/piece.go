package format

import "encoding/binary"

// Piece is a part of a turn within a block's plaintext.
type Piece struct {
	Turn uint32 // relative to the segment's first id
	Part uint32
	Meta []byte // the turn's meta part, with part 0 of the content stream
	Data []byte
}

// AppendPiece appends a piece to the plaintext of a block whose first piece
// belongs to turn first.
func AppendPiece(dst []byte, first uint32, p *Piece) []byte {
	dst = binary.AppendUvarint(dst, uint64(p.Turn-first))
	dst = binary.AppendUvarint(dst, uint64(p.Part))
	dst = binary.AppendUvarint(dst, uint64(len(p.Meta)))
	dst = binary.AppendUvarint(dst, uint64(len(p.Data)))
	dst = append(dst, p.Meta...)
	return append(dst, p.Data...)
}

// NextPiece reads the piece that plaintext begins with and returns the rest.
// Meta and Data alias plaintext. ok is false where the bytes break the rules.
func NextPiece(plaintext []byte, first uint32) (p Piece, rest []byte, ok bool) {
	d := decoder{b: plaintext}
	turn := d.bounded(1<<32 - 1 - uint64(first))
	part := d.bounded(1<<32 - 1)
	meta := d.bounded(maxMeta)
	data := d.bounded(MaxBlockRaw)
	p = Piece{Turn: first + uint32(turn), Part: uint32(part), Meta: d.bytes(meta), Data: d.bytes(data)}
	if d.bad || part > 0 && meta > 0 {
		return Piece{}, nil, false
	}
	return p, plaintext[d.p:], true
}
