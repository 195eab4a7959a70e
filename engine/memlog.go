package engine

import (
	"ctxdb/format"
	"ctxdb/segment"
)

// logged is a turn that lives in the log: its bytes alias the group buffer
// that was written, or the extent that recovery read.
type logged struct {
	record  []byte // meta part and content
	metaLen int
	source  []byte // nil: none
	at      int64  // offset of its frame in the file
}

func (l *logged) content() []byte { return l.record[l.metaLen:] }

// run is turns of consecutive ids in one log extent, as a view sees them.
// Damage splits an extent into several.
//
// invariant: turns[i] is the turn first+i, and never changes.
type run struct {
	extent format.LogExtent
	first  uint64
	turns  []logged
	bytes  int64 // of the frames
}

func (r *run) end() uint64 { return r.first + uint64(len(r.turns)) }

// get decodes a turn of the run. The content is a copy.
func (l *logged) turn() (format.Turn, error) {
	rec, _, err := format.DecodeMeta(l.record, l.at)
	if err != nil {
		return format.Turn{}, err
	}
	if !rec.Intact(l.content()) {
		return format.Turn{}, format.Corruptf("logged turn", l.at, "digest differs")
	}
	t := rec.Turn
	t.Content = append([]byte{}, l.content()...)
	return t, nil
}

// sealable is the turn as package segment takes it. It aliases the log.
func (l *logged) sealable() (segment.Turn, error) {
	rec, n, err := format.DecodeMeta(l.record, l.at)
	if err != nil {
		return segment.Turn{}, err
	}
	return segment.Turn{Meta: l.record[:n], Record: rec, Content: l.record[n:], Source: l.source}, nil
}

// contiguous splits the readable turns of runs into stretches without a gap.
func contiguous(runs []run) ([]stretch, error) {
	var all []stretch
	for _, r := range runs {
		for i := range r.turns {
			l := &r.turns[i]
			t, err := l.sealable()
			if err != nil {
				return nil, err
			}
			all = appendTurn(all, r.first+uint64(i), t)
		}
	}
	return all, nil
}

// stretch is turns of consecutive ids.
type stretch struct {
	first uint64
	turns []segment.Turn
}

func (s *stretch) end() uint64 { return s.first + uint64(len(s.turns)) }

func appendTurn(all []stretch, id uint64, t segment.Turn) []stretch {
	if n := len(all); n > 0 && all[n-1].end() == id {
		all[n-1].turns = append(all[n-1].turns, t)
		return all
	}
	return append(all, stretch{first: id, turns: []segment.Turn{t}})
}

// size is what segments are measured by: content and source.
func (s *stretch) size() (n int64) {
	for i := range s.turns {
		n += turnSize(&s.turns[i])
	}
	return n
}

func turnSize(t *segment.Turn) int64 { return int64(len(t.Meta) + len(t.Content) + len(t.Source)) }
