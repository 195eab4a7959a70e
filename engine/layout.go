package engine

import (
	"bytes"
	"fmt"

	"ctxdb/format"
	"ctxdb/segment"
	"ctxdb/wal"
)

// laid is a batch with its ids, keys and replies decided.
type laid struct {
	batch *batch
	ids   []TurnID // of every turn of the batch, duplicates included
	first uint64   // id of turns[0]
	turns []laidTurn
	keys  map[string]uint64
	size  int64 // of the payload
}

type laidTurn struct {
	stored format.Turn
	meta   []byte
}

// layOut gives a batch its ids. Turns whose key and content the file has
// already get the first one's id and are not stored again. One conflict fails
// the batch and nothing else.
func (db *DB) layOut(g *group, b *batch) (*laid, error) {
	l := &laid{batch: b, first: db.nextID, ids: make([]TurnID, 0, len(b.turns))}
	for i := range b.turns {
		if err := db.layOutTurn(g, l, &b.turns[i]); err != nil {
			return nil, &BatchError{i, err}
		}
	}
	if l.first+uint64(len(l.turns)) > format.MaxTurns {
		return nil, fmt.Errorf("%w: the file would have more than %d turns", ErrTooLarge, uint64(format.MaxTurns))
	}
	return l, nil
}

func (db *DB) layOutTurn(g *group, l *laid, t *Turn) error {
	s := t.stored()
	id := l.first + uint64(len(l.turns))
	if t.ReplyKey != "" {
		to, err := db.findKey(g, l, t.ReplyKey)
		if err != nil {
			return err
		}
		if to == 0 {
			return fmt.Errorf("reply to key %q: %w among earlier turns", t.ReplyKey, ErrNotFound)
		}
		s.ReplyTo = to
	}
	if t.Key != "" {
		same, err := db.findKey(g, l, t.Key)
		if err != nil {
			return err
		}
		if same != 0 {
			return db.repeat(g, l, &s, same)
		}
	}
	if s.ReplyTo >= id {
		return fmt.Errorf("reply to turn %d: %w among earlier turns", s.ReplyTo, ErrNotFound)
	}
	lt := laidTurn{stored: s, meta: format.AppendMeta(nil, &s)}
	l.turns = append(l.turns, lt)
	l.ids = append(l.ids, TurnID(id))
	l.size += int64(wal.TurnSize(lt.meta, s.Content, s.Source))
	if s.Key != "" {
		if l.keys == nil {
			l.keys = map[string]uint64{}
		}
		l.keys[s.Key] = id
	}
	return nil
}

// repeat takes a turn whose key is known for the known one, if they are the
// same.
func (db *DB) repeat(g *group, l *laid, s *format.Turn, id uint64) error {
	known, err := db.laidOrStored(g, l, id)
	if err != nil {
		return err
	}
	same := sameContent(s, known)
	if same && len(s.Content) == 0 { // then its record is all that it is
		if same, err = db.sameSource(g, l, s.Source, id); err != nil {
			return err
		}
	}
	if !same {
		return fmt.Errorf("%w: key %q names turn %d, which differs in role, thread, reply or content", ErrKeyExists, s.Key, id)
	}
	l.ids = append(l.ids, TurnID(id))
	return nil
}

// sameSource compares the source of a turn that is laid out or stored.
func (db *DB) sameSource(g *group, l *laid, source []byte, id uint64) (bool, error) {
	known, err := db.laidOrStored(g, l, id)
	if err == nil && known.Source == nil && id < l.first {
		err = db.do(func(v *view) (err error) {
			if id < v.nextID { // else it is in this group, and has none
				known.Source, err = v.source(id)
			}
			return err
		})
	}
	return bytes.Equal(known.Source, source), err
}

// findKey looks for a key in this batch, in this group, in the log, and in the
// segments. 0: nobody has it.
func (db *DB) findKey(g *group, l *laid, key string) (uint64, error) {
	if id, ok := l.keys[key]; ok {
		return id, nil
	}
	if id, ok := g.keys[key]; ok {
		return id, nil
	}
	if id, ok := db.keys.get(key); ok {
		return id, nil
	}
	var id uint64
	err := db.do(func(v *view) (err error) { // a seal may replace segments meanwhile
		id, err = v.sealedKey(key)
		return err
	})
	return id, err
}

func (db *DB) laidOrStored(g *group, l *laid, id uint64) (*format.Turn, error) {
	if id >= l.first {
		return &l.turns[id-l.first].stored, nil
	}
	for _, o := range g.laid {
		if id >= o.first && id < o.first+uint64(len(o.turns)) {
			return &o.turns[id-o.first].stored, nil
		}
	}
	var t format.Turn
	err := db.do(func(v *view) (err error) {
		t, err = v.get(id)
		return err
	})
	return &t, err
}

// payload writes the batch as the payload of its frame.
func (l *laid) payload(dst []byte) []byte {
	for i := range l.turns {
		t := &l.turns[i]
		dst = wal.AppendTurn(dst, t.meta, t.stored.Content, t.stored.Source)
	}
	return dst
}

// slice finds the turns again in the payload of the frame at an offset.
func (l *laid) slice(payload []byte, at int64) []logged {
	turns := make([]logged, len(l.turns))
	p := 0
	for i := range l.turns {
		t := &l.turns[i]
		size := wal.TurnSize(t.meta, t.stored.Content, t.stored.Source)
		record := len(t.meta) + len(t.stored.Content)
		end := p + size - len(t.stored.Source)
		turns[i] = logged{record: payload[end-record : end : end], metaLen: len(t.meta), at: at}
		if t.stored.Source != nil {
			turns[i].source = payload[end : p+size : p+size]
		}
		p += size
	}
	return turns
}

// sealable is the batch as package segment takes it, for large batches.
func (l *laid) sealable() []segment.Turn {
	turns := make([]segment.Turn, len(l.turns))
	for i := range l.turns {
		s := &l.turns[i].stored
		rec, _, err := format.DecodeMeta(l.turns[i].meta, 0)
		if err != nil {
			panic(fmt.Sprintf("a meta part that was just made can't be read: %v", err)) // unreachable by input: Validate came before
		}
		turns[i] = segment.Turn{Meta: l.turns[i].meta, Record: rec, Content: s.Content, Source: s.Source}
	}
	return turns
}
