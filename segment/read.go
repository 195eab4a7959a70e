package segment

import (
	"slices"

	"ctxdb/format"
)

// growStep bounds what is allocated for a content before its bytes are there.
const growStep = 1 << 20

// Turn reads a whole turn; its content is checked against the turn's own sum.
// The memory belongs to the caller. Source is not filled: see AppendSource.
func (s *Segment) Turn(id uint64) (format.Turn, error) {
	var r format.Record
	content, err := s.fault(nil, id, func(meta []byte, at int64) (err error) {
		r, err = decodeRecord(meta, at)
		return err
	})
	if err != nil {
		return format.Turn{}, err
	}
	t := r.Turn
	t.Content = content
	return t, nil
}

// AppendContent appends a turn's content to dst; it is checked against the
// turn's own sum. It does not allocate where dst has room.
// After an error the result is dst as it was.
func (s *Segment) AppendContent(dst []byte, id uint64) ([]byte, error) {
	out, err := s.fault(dst, id, nil)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// fault appends the content of a turn to dst and shows its verified meta part,
// which is valid during the call only.
func (s *Segment) fault(dst []byte, id uint64, see func(meta []byte, at int64) error) ([]byte, error) {
	l, err := s.enter()
	if err != nil {
		return dst, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return dst, err
	}
	sc := getScratch()
	defer putScratch(sc)
	dst, meta, err := s.content(l, sc, dst, turn)
	if err == nil && see != nil {
		err = see(meta, sc.at)
	}
	if err != nil {
		return dst, s.located(err)
	}
	return dst, nil
}

// decodeRecord reads a meta part that must be one and nothing else. at is the
// absolute offset of its block. The record keeps meta.
func decodeRecord(meta []byte, at int64) (format.Record, error) {
	r, n, err := format.DecodeMeta(meta, at)
	if err != nil {
		return r, err
	}
	if n != len(meta) {
		return r, format.Corruptf("turn record", at, "%d bytes behind the meta part", len(meta)-n)
	}
	return r, nil
}

// begin loads the block of a turn's first piece.
func (s *Segment) begin(l *layout, sc *scratch, turn uint32) (format.Piece, int, error) {
	p, err := s.locate(l, sc, &l.content, format.StreamContent, makeBlockKey(turn, 0))
	if err != nil {
		return p, 0, err
	}
	n, ok := contentLength(p.Meta)
	if !ok || len(p.Data) > n {
		return p, 0, format.Corruptf("turn record", sc.at, "content length breaks the rules")
	}
	return p, n, nil
}

// content appends the content of a turn to dst. meta is valid until the scratch
// is used again.
func (s *Segment) content(l *layout, sc *scratch, dst []byte, turn uint32) (out, meta []byte, err error) {
	p, n, err := s.begin(l, sc, turn)
	if err != nil {
		return dst, nil, err
	}
	base := len(dst)
	dst = slices.Grow(dst, min(n, growStep))
	dst = append(dst, p.Data...)
	meta = p.Meta
	if len(p.Data) < n {
		sc.meta = append(sc.meta[:0], meta...)
		meta = sc.meta
		if dst, err = s.moreContent(l, sc, dst, turn, n-len(p.Data)); err != nil {
			return dst, nil, err
		}
	}
	if !intact(meta, dst[base:]) {
		return dst, nil, format.Corruptf("turn record", sc.at, "turn %d differs from its sum", s.entry.FirstID+uint64(turn))
	}
	return dst, meta, nil
}

// moreContent appends the parts of a turn from the second on, n bytes in all.
func (s *Segment) moreContent(l *layout, sc *scratch, dst []byte, turn uint32, n int) ([]byte, error) {
	for part := uint32(1); n > 0; part++ {
		p, ok, err := s.follow(l, sc, format.StreamContent, makeBlockKey(turn, part))
		if err != nil {
			return dst, err
		}
		if !ok || len(p.Data) == 0 || len(p.Data) > n {
			return dst, format.Corruptf("block", sc.at, "part %d of turn %d is missing", part, s.entry.FirstID+uint64(turn))
		}
		dst = append(dst, p.Data...)
		n -= len(p.Data)
	}
	return dst, nil
}

// follow takes the next piece, from the next block where this one is done. ok is
// false where it is another than key.
func (s *Segment) follow(l *layout, sc *scratch, stream format.Stream, key blockKey) (p format.Piece, ok bool, err error) {
	if len(sc.rest) == 0 {
		more, err := sc.cursor.next()
		if err != nil || !more {
			return p, false, err
		}
		if entryKey(sc.cursor.at) != key {
			return p, false, nil
		}
		if err := s.loadBlock(l, sc, stream); err != nil {
			return p, false, err
		}
	}
	p, ok = sc.take(stream)
	if !ok {
		return p, false, format.Corruptf("block", sc.at, "pieces break the rules")
	}
	return p, makeBlockKey(p.Turn, p.Part) == key, nil
}

// Record reads what a turn says about itself. The content is not copied, and
// not checked where it has several parts; the meta part is checked through
// its block. The memory belongs to the caller.
func (s *Segment) Record(id uint64) (format.Record, error) {
	l, err := s.enter()
	if err != nil {
		return format.Record{}, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return format.Record{}, err
	}
	sc := getScratch()
	defer putScratch(sc)
	r, err := s.record(l, sc, turn)
	return r, s.located(err)
}

func (s *Segment) record(l *layout, sc *scratch, turn uint32) (format.Record, error) {
	meta, err := s.meta(l, sc, turn)
	if err != nil {
		return format.Record{}, err
	}
	return decodeRecord(slices.Clone(meta), sc.at)
}

// meta is the meta part of a turn, checked with its content where that has one
// part. It is valid until the scratch is used again.
func (s *Segment) meta(l *layout, sc *scratch, turn uint32) ([]byte, error) {
	p, n, err := s.begin(l, sc, turn)
	if err != nil {
		return nil, err
	}
	if len(p.Data) == n && !intact(p.Meta, p.Data) {
		return nil, format.Corruptf("turn record", sc.at, "turn %d differs from its sum", s.entry.FirstID+uint64(turn))
	}
	return p.Meta, nil
}

// AppendPart appends one part of a turn's content to dst, counted from 0. Only
// its block is read. After an error the result is dst as it was.
func (s *Segment) AppendPart(dst []byte, id uint64, part int) ([]byte, error) {
	l, err := s.enter()
	if err != nil {
		return dst, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return dst, err
	}
	if part < 0 || uint64(part) >= lastPart {
		return dst, s.errNoPart(id, part)
	}
	sc := getScratch()
	defer putScratch(sc)
	key := makeBlockKey(turn, uint32(part))
	p, err := s.locate(l, sc, &l.content, format.StreamContent, key)
	if err == nil {
		return append(dst, p.Data...), nil
	}
	if nearest, near := s.part(l, sc, key); near == nil && nearest.Turn == turn {
		return dst, s.errNoPart(id, part) // it is proved that the turn ends before
	}
	return dst, s.located(err)
}

// Parts is the number of parts of a turn's content, at least 1.
func (s *Segment) Parts(id uint64) (int, error) {
	l, err := s.enter()
	if err != nil {
		return 0, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return 0, err
	}
	sc := getScratch()
	defer putScratch(sc)
	p, err := s.part(l, sc, makeBlockKey(turn, lastPart))
	if err == nil && (p.Turn != turn || p.Part >= format.MaxContent) {
		err = format.Corruptf("block", sc.at, "turn %d is not where the index says", id)
	}
	if err != nil {
		return 0, s.located(err)
	}
	return int(p.Part) + 1, nil
}

// part finds the last piece at or before key.
func (s *Segment) part(l *layout, sc *scratch, key blockKey) (p format.Piece, err error) {
	if err := sc.cursor.seek(&l.content, key); err != nil {
		return p, err
	}
	if err := s.loadBlock(l, sc, format.StreamContent); err != nil {
		return p, err
	}
	for len(sc.rest) > 0 {
		q, taken := sc.take(format.StreamContent)
		if !taken {
			return p, format.Corruptf("block", sc.at, "pieces break the rules")
		}
		if makeBlockKey(q.Turn, q.Part) > key {
			break
		}
		p = q
	}
	return p, nil
}
