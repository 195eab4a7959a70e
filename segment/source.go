package segment

import (
	"ctxdb/format"
)

// AppendSource appends the record that a turn came in to dst; it is checked
// against the turn's own sum. ok is false where the turn has none. After an
// error the result is dst as it was.
func (s *Segment) AppendSource(dst []byte, id uint64) (out []byte, ok bool, err error) {
	l, err := s.enter()
	if err != nil {
		return dst, false, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return dst, false, err
	}
	sc := getScratch()
	defer putScratch(sc)
	r, err := s.record(l, sc, turn)
	if err != nil || !r.HasSource {
		return dst, false, s.located(err)
	}
	content, _, err := s.content(l, sc, nil, turn)
	if err != nil {
		return dst, false, s.located(err)
	}
	encoded, err := s.encodedSource(l, sc, turn)
	if err != nil {
		return dst, false, s.located(err)
	}
	out, err = decodeSource(dst, encoded, content, &r, sc.at)
	if err != nil {
		return dst, false, s.located(err)
	}
	return out, true, nil
}

// encodedSource gathers the pieces of a turn's source. All but the last one are
// full.
func (s *Segment) encodedSource(l *layout, sc *scratch, turn uint32) ([]byte, error) {
	key := makeBlockKey(turn, 0)
	if l.source.entries == 0 {
		return nil, format.Corruptf("section table", s.offset+l.footer.TableOffset, "turn %d has a source, but there are no source blocks", s.entry.FirstID+uint64(turn))
	}
	p, err := s.locate(l, sc, &l.source, format.StreamSource, key)
	if err != nil {
		return nil, err
	}
	encoded := append([]byte(nil), p.Data...)
	for len(p.Data) == format.SourcePartSize {
		key++
		var ok bool
		if p, ok, err = s.follow(l, sc, format.StreamSource, key); err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		encoded = append(encoded, p.Data...)
	}
	return encoded, nil
}

// decodeSource appends a source to dst and holds it against its record.
func decodeSource(dst, encoded, content []byte, r *format.Record, at int64) ([]byte, error) {
	base := len(dst)
	out, err := format.DecodeSource(dst, encoded, content, r.SourceLen, at)
	if err != nil {
		return dst, err
	}
	if format.Hash(out[base:]) != r.SourceSum {
		return dst, format.Corruptf("source", at, "differs from its sum")
	}
	return out, nil
}
