package engine

import (
	"fmt"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
)

// Lookup finds a turn by its key. ErrNotFound: no turn has it.
func (db *DB) Lookup(key string) (TurnID, error) {
	var id uint64
	err := db.do(func(v *view) (err error) {
		id, err = db.lookup(v, key)
		if err == nil && id == 0 {
			err = noKey(key)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("lookup: %w", err)
	}
	return TurnID(id), nil
}

// GetKey is Lookup and Get in one, which decodes the turn's block once instead of
// twice. Errors are those of Get.
func (db *DB) GetKey(key string) (Turn, error) {
	var id uint64
	var t format.Turn
	err := db.do(func(v *view) (err error) {
		if key == "" {
			return noKey(key)
		}
		if id, v, err = db.loggedKey(v, key); id != 0 && err == nil {
			t, err = v.get(id)
		} else if err == nil {
			id, t, err = v.sealedTurn(key)
		}
		if err == nil && id == 0 {
			err = noKey(key)
		}
		return err
	})
	if err != nil {
		return Turn{}, fmt.Errorf("get: %w", err)
	}
	return fromStored(id, &t), nil
}

func noKey(key string) error { return fmt.Errorf("key %q: %w", key, ErrNotFound) }

func (db *DB) lookup(v *view, key string) (uint64, error) {
	if key == "" {
		return 0, nil
	}
	id, v, err := db.loggedKey(v, key)
	if id != 0 || err != nil {
		return id, err
	}
	return v.sealedKey(key)
}

// loggedKey finds a key in the log. 0: it is not there; then sealed says of which
// view the segments are to be asked.
func (db *DB) loggedKey(v *view, key string) (id uint64, sealed *view, err error) {
	if db.writer == nil {
		id, err = v.loggedKey(key)
		return id, v, err
	}
	if id, ok := db.keys.get(key); ok && id < v.nextID {
		return id, v, nil
	}
	// A key leaves the map after the view with its segment was published.
	return 0, db.view.Load(), nil
}

// fewIDs is how many turns a hash may stand for before memory is allocated.
const fewIDs = 8

// sealedKey finds a key among the segments. 0: no turn has it.
func (v *view) sealedKey(key string) (uint64, error) {
	var room [fewIDs]uint64
	ids, err := v.sealedIDs(format.HashKey(key), room[:0])
	if err != nil {
		return 0, err
	}
	for _, id := range ids { // hashes may collide: the stored key decides
		has, err := v.hasKey(id, key)
		if err != nil {
			return 0, err
		}
		if has {
			return id, nil
		}
	}
	return 0, nil
}

// sealedTurn is sealedKey and get in one: the block is decoded once.
func (v *view) sealedTurn(key string) (id uint64, t format.Turn, err error) {
	var room [fewIDs]uint64
	ids, err := v.sealedIDs(format.HashKey(key), room[:0])
	if err != nil {
		return 0, t, err
	}
	for _, id := range ids {
		if t, err = v.get(id); err != nil || t.Key == key {
			return id, t, err
		}
	}
	return 0, format.Turn{}, nil
}

// sealedIDs appends the ids, ascending, of the sealed turns that the hash of a key
// stands for.
func (v *view) sealedIDs(hash uint64, ids []uint64) (_ []uint64, err error) {
	for _, r := range v.runs {
		found, rerr := r.FindKey(hash, ids)
		if isDamage(rerr) {
			found, rerr = v.coveredKey(r, hash, ids) // its segments still know
		}
		if rerr != nil {
			return nil, rerr
		}
		ids = found
	}
	for _, s := range v.apart {
		if ids, err = findKey(s, hash, ids); err != nil {
			return nil, err
		}
	}
	for _, s := range v.segs[v.clean:] {
		if s.Entry().Keys == 0 {
			continue
		}
		if ids, err = findKey(s, hash, ids); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// coveredKey asks the segments that a damaged run covers.
func (v *view) coveredKey(r *segment.Run, hash uint64, ids []uint64) (_ []uint64, err error) {
	for _, s := range v.segs {
		if covers(r.Entry(), s.Entry()) && s.Entry().Keys > 0 {
			if ids, err = findKey(s, hash, ids); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// hasKey compares the key that is stored in a turn.
func (v *view) hasKey(id uint64, key string) (bool, error) {
	if l := v.loggedOf(id); l != nil {
		return l.hasKey(key)
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return false, v.absent(id)
	}
	return s.HasKey(id, key)
}

// loggedKey finds a key among logged turns, by looking at each. Readers use it;
// the writer has a map. 0: no turn has it.
func (v *view) loggedKey(key string) (uint64, error) {
	for i := range v.logs {
		r := &v.logs[i]
		for j := range r.turns {
			has, err := r.turns[j].hasKey(key)
			if err != nil {
				return 0, err
			}
			if has {
				return r.first + uint64(j), nil
			}
		}
	}
	return 0, nil
}

func (l *logged) hasKey(key string) (bool, error) {
	has, ok := format.MetaKey(l.record)
	if !ok {
		return false, format.Corruptf("turn record", l.at, "a field breaks the rules")
	}
	return string(has) == key, nil
}
