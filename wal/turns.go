package wal

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"ctxdb/format"
)

// RawTurn is one turn of a frame's payload. Its slices alias the payload.
type RawTurn struct {
	Meta    format.Record // the decoded meta part; its strings are copies
	Record  []byte        // meta and content, as the frame has them
	Content []byte        // the end of Record
	Source  []byte        // nil: none
}

// TurnSize is the number of bytes that AppendTurn appends.
func TurnSize(meta, content, source []byte) int {
	record := len(meta) + len(content)
	return (bits.Len(uint(record)|1)+6)/7 + record + len(source)
}

// AppendTurn appends one turn to the payload of a frame. meta is what
// format.AppendMeta made of the turn; content and source are the turn's.
func AppendTurn(dst, meta, content, source []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(meta)+len(content)))
	dst = append(dst, meta...)
	dst = append(dst, content...)
	return append(dst, source...)
}

// Turns takes the payload of a frame with count turns apart. at is the absolute
// offset of the payload. The first error, a format.CorruptError, ends the sequence; so does a
// payload that is longer than its turns.
//
// Only the structure is checked here: the frame's sum was checked by Scan, and
// Record.Intact and SourceSum are there for who wants to check more.
func Turns(payload []byte, count uint64, at int64) iter.Seq2[RawTurn, error] {
	return func(yield func(RawTurn, error) bool) {
		p := 0
		for i := uint64(0); i < count; i++ {
			t, n, err := rawTurn(payload[p:], at+int64(p))
			if err != nil {
				yield(RawTurn{}, err)
				return
			}
			if !yield(t, nil) {
				return
			}
			p += n
		}
		if p < len(payload) {
			yield(RawTurn{}, format.Corruptf("frame", at+int64(p), "%d bytes behind %d turns", len(payload)-p, count))
		}
	}
}

// rawTurn reads the turn that b begins with, and how many bytes it takes.
func rawTurn(b []byte, at int64) (t RawTurn, n int, err error) {
	length, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 {
		return RawTurn{}, 0, format.Corruptf("frame", at, "no length of a turn")
	}
	if length > uint64(len(b)-n) {
		return RawTurn{}, 0, format.Corruptf("frame", at, "a turn of %d bytes where %d are left", length, len(b)-n)
	}
	t.Record = b[n : n+int(length) : n+int(length)]
	meta, metaLen, err := format.DecodeMeta(t.Record, at+int64(n))
	if err != nil {
		return RawTurn{}, 0, err
	}
	t.Meta, t.Content = meta, t.Record[metaLen:]
	if len(t.Content) != meta.ContentLen {
		return RawTurn{}, 0, format.Corruptf("frame", at+int64(n+metaLen), "%d bytes of content where the turn has %d", len(t.Content), meta.ContentLen)
	}
	n += int(length)
	if meta.HasSource {
		if meta.SourceLen > len(b)-n {
			return RawTurn{}, 0, format.Corruptf("frame", at+int64(n), "a source of %d bytes where %d are left", meta.SourceLen, len(b)-n)
		}
		t.Source = b[n : n+meta.SourceLen : n+meta.SourceLen]
		n += meta.SourceLen
	}
	return t, n, nil
}
