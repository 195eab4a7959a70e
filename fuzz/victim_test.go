package fuzz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ctxdb/engine"
	"ctxdb/format"
	"ctxdb/format/disk"
)

// victim is a real file with segments and a log, and what is in it.
type victim struct {
	bytes []byte
	model *Model
	ends  []int64 // where each turn's frame begins in the log; 0: it is sealed
	tail  int64   // where the promise behind the last frame begins
}

// makeVictim plays a history and stops without Close. full: 64 KiB and more of
// segments beside the log.
func makeVictim(turns int, noise bool) (*victim, error) {
	p := newPlayer(5, &optionSets[0])
	var ops []operation
	for i := range turns {
		op := appendOp{{size: small, kind: drawKind(seeded(uint64(i))), pick: i * 7}}
		if noise && i%16 == 3 {
			op = appendOp{{size: long}}
		}
		ops = append(ops, op)
		if i == turns-12 {
			ops = append(ops, reopenOp{})
		}
	}
	if err := p.play(ops); err != nil {
		return nil, err
	}
	v := &victim{bytes: p.mem.Bytes(path), model: p.model}
	for i := range p.model.visible {
		at, err := p.db.Where(engine.TurnID(i + 1))
		if err != nil {
			return nil, err
		}
		v.ends = append(v.ends, 0)
		if at[0].Region == "log frame" {
			v.ends[i] = at[0].Offset
		}
	}
	// The promise behind the last frame is the witness of its turns.
	if at := slices.Max(v.ends); at > 0 {
		length := binary.LittleEndian.Uint32(v.bytes[at+4:])
		v.tail = at + format.FrameSize(int(length))
	}
	return v, nil
}

// outcome counts what damage leads to.
type outcome struct{ refused, damaged, whole int }

// attack opens a damaged file and reads everything: each turn is exact or an
// error that says so. Damage lies at from <= offset < to.
//
// Every turn is iterated and verified in each file; of those that come, only each
// fourth is read in every other way, from the one at share on. Negative: all are.
func (v *victim) attack(b []byte, from, to int64, share int, o *outcome) error {
	mem := disk.NewMem(1)
	if err := mem.Put(path, b); err != nil {
		return err
	}
	if err := loads(mem); err != nil {
		o.refused++
		if !proper(err) {
			return fmt.Errorf("open: %w", err)
		}
		return nil
	}
	db, err := engine.Open(path, reading(mem))
	if err != nil {
		if o.refused++; proper(err) && len(b) == 0 {
			return nil
		}
		return fmt.Errorf("a writer can load it, a reader says: %w", err)
	}
	defer db.Close()
	bad, err := v.readDamaged(db, from, to, share)
	if err != nil {
		return err
	}
	findings := 0
	for f, err := range db.Verify(ctx) {
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		if findings++; f.Region == "" || f.Offset < 0 || f.Offset > int64(len(v.bytes)) || f.Err == nil {
			return fmt.Errorf("verify: a finding without place: %+v", f)
		}
	}
	if bad > 0 && findings == 0 {
		return fmt.Errorf("%d turns can't be read and verify finds nothing", bad)
	}
	if bad > 0 {
		o.damaged++
	} else {
		o.whole++
	}
	return nil
}

var errLoaded = errors.New("loaded")

// loads opens the file for writing up to the first write. Unlike a reader, who
// waits two seconds for a writer to finish, a writer knows at once that damage
// stays.
func loads(mem *disk.Mem) error {
	mem.SetHook(func(op disk.Op) error {
		if op.Kind.Changes() {
			return errLoaded
		}
		return nil
	})
	defer mem.SetHook(nil)
	_, err := engine.Open(path, optionSets[0].options(mem, 3, 1))
	if errors.Is(err, errLoaded) {
		return nil
	}
	return err
}

// proper errors say what is wrong with a file.
func proper(err error) bool {
	for _, e := range []error{engine.ErrCorrupt, engine.ErrTruncated, engine.ErrNotCtxdb, engine.ErrVersion} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// readDamaged reads turns in every way, and counts those that can't be.
func (v *victim) readDamaged(db *engine.DB, from, to int64, share int) (bad int, err error) {
	torn := db.Recovery().TornBytes > 0
	came, err := v.iterate(db)
	if err != nil {
		return 0, err
	}
	for i := range v.model.turns {
		if share >= 0 && i%4 != share && i < len(came) {
			if !came[i] {
				bad++
			}
			continue
		}
		want := &v.model.turns[i]
		got, err := db.Get(want.ID)
		if err == nil {
			err = sameTurn(*want, got)
			if err != nil {
				return 0, err
			}
			source, err := db.Source(want.ID)
			if err == nil && string(source) != string(want.Source) {
				return 0, fmt.Errorf("turn %d: another source", want.ID)
			}
		} else if bad++; !errors.Is(err, engine.ErrCorrupt) && !errors.Is(err, engine.ErrTruncated) {
			// SPEC.md section 16, 5: without its promise the last group may look torn.
			if unpromised := torn && to > v.tail && from < v.tail+format.FrameHeaderSize && v.ends[i] > 0; !unpromised {
				return 0, fmt.Errorf("turn %d: %w", want.ID, err)
			}
			bad--
		}
		if want.Key != "" {
			if id, err := db.Lookup(want.Key); err == nil && id != want.ID {
				return 0, fmt.Errorf("key %q leads to %d, not %d", want.Key, id, want.ID)
			} else if errors.Is(err, engine.ErrNotFound) && got.Key != "" {
				return 0, fmt.Errorf("key %q of turn %d, which is there: %w", want.Key, want.ID, err)
			}
		}
	}
	return bad, nil
}

// iterate reads all turns in order. Each that comes is exact, or an error that
// says what is wrong with the file.
func (v *victim) iterate(db *engine.DB) (exact []bool, err error) {
	for t, err := range db.Turns(1, 0) {
		n := len(exact)
		switch {
		case n >= len(v.model.turns):
			return nil, fmt.Errorf("phantom: turn %d", t.ID)
		case err == nil:
			err = sameTurn(v.model.turns[n], t)
		case t.ID == v.model.turns[n].ID && proper(err):
			exact = append(exact, false)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("iteration: %w", err)
		}
		exact = append(exact, true)
	}
	return exact, nil
}

// asked reports which bytes anybody asks for who opens the file and reads all of
// it. What the others say makes no difference to what a reader does.
func (v *victim) asked() (asked []bool, n int, err error) {
	asked = make([]bool, len(v.bytes))
	mem := disk.NewMem(1)
	if err := mem.Put(path, v.bytes); err != nil {
		return nil, 0, err
	}
	mem.SetHook(func(op disk.Op) error {
		if op.Kind == disk.OpRead {
			for at := op.Off; at < min(op.Off+int64(op.Len), int64(len(asked))); at++ {
				if !asked[at] {
					asked[at] = true
					n++
				}
			}
		}
		if op.Kind.Changes() {
			return errLoaded
		}
		return nil
	})
	if _, err := engine.Open(path, optionSets[0].options(mem, 3, 1)); !errors.Is(err, errLoaded) {
		return nil, 0, err
	}
	db, err := engine.Open(path, reading(mem))
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	if _, err := v.readDamaged(db, 0, 0, -1); err != nil {
		return nil, 0, err
	}
	return asked, n, verified(db, true)
}
