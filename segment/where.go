package segment

import (
	"ctxdb/format"
)

// Location is where a block of a turn lies.
type Location struct {
	Stream    format.Stream
	Offset    int64 // absolute, of the block's header
	Stored    int   // bytes behind the header
	Raw       int   // bytes of plaintext, other turns' included
	Codec     format.Codec
	FirstID   uint64 // of its first piece
	FirstPart int
}

// Where lists the blocks that hold a turn: those of its content, then those of
// its source.
func (s *Segment) Where(id uint64) ([]Location, error) {
	l, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer s.Release()
	turn, err := s.local(id)
	if err != nil {
		return nil, err
	}
	sc := getScratch()
	defer putScratch(sc)
	r, err := s.record(l, sc, turn)
	if err != nil {
		return nil, s.located(err)
	}
	list, err := s.blocksOf(l, sc, &l.content, format.StreamContent, turn, nil)
	if err == nil && r.HasSource && l.source.entries > 0 {
		list, err = s.blocksOf(l, sc, &l.source, format.StreamSource, turn, list)
	}
	return list, s.located(err)
}

func (s *Segment) blocksOf(l *layout, sc *scratch, set *pageSet, stream format.Stream, turn uint32, list []Location) ([]Location, error) {
	if err := sc.cursor.seek(set, makeBlockKey(turn, 0)); err != nil {
		return list, err
	}
	for {
		if err := s.loadBlock(l, sc, stream); err != nil {
			return list, err
		}
		h, _ := format.PeekBlock(sc.block)
		list = append(list, Location{
			Stream: stream, Offset: sc.at, Stored: int(h.Stored), Raw: int(h.Raw), Codec: h.Codec,
			FirstID: s.entry.FirstID + uint64(h.Turn), FirstPart: int(h.Part),
		})
		more, err := sc.cursor.next()
		if err != nil || !more || sc.cursor.at.Turn != turn || sc.cursor.at.Part == 0 {
			return list, err
		}
	}
}
