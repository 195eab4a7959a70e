package fuzz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"ctxdb/engine"
	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
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
func (v *victim) attack(b []byte, from, to int64, o *outcome) error {
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
	bad, err := v.readDamaged(db, from, to)
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

// readDamaged reads all turns in every way, and counts those that can't be.
func (v *victim) readDamaged(db *engine.DB, from, to int64) (bad int, err error) {
	torn := db.Recovery().TornBytes > 0
	for i := range v.model.turns {
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
	n := 0
	for t, err := range db.Turns(1, 0) {
		if n++; n > len(v.model.turns) {
			return 0, fmt.Errorf("phantom: turn %d", t.ID)
		}
		if err == nil {
			if err := sameTurn(v.model.turns[n-1], t); err != nil {
				return 0, fmt.Errorf("iteration: %w", err)
			}
		}
	}
	return bad, nil
}

// attacks runs one way of damage over the file and reports.
func attacks(t *testing.T, v *victim, what string, n, step int, damage func(b []byte, i int) (out []byte, from, to int64)) {
	t.Helper()
	start, tried := time.Now(), 0
	var o outcome
	b := make([]byte, len(v.bytes))
	for i := seeded(uint64(step)).IntN(step); i < n; i += step {
		copy(b, v.bytes)
		out, from, to := damage(b, i)
		if err := v.attack(out, from, to, &o); err != nil {
			t.Fatalf("%s %d (bytes %d to %d): %v", what, i, from, to, err)
		}
		tried++
	}
	t.Logf("%s: %d of %d tried, %d refused, %d with damaged turns, %d read whole; %v", what, tried, n, o.refused, o.damaged, o.whole, time.Since(start).Round(time.Millisecond))
}

func TestHostileFiles(t *testing.T) {
	v, err := makeVictim(65, true)
	if err != nil {
		t.Fatal(err)
	}
	size := len(v.bytes)
	if size < 64<<10 || v.tail == 0 || v.ends[0] > 0 {
		t.Fatalf("the file has %d bytes, its log ends at %d", size, v.tail)
	}
	t.Logf("the file has %d bytes, %d turns, a log that ends at %d", size, v.model.visible, v.tail)
	part := func(step int) int {
		switch {
		case *full:
			return 1
		case trial.Brief():
			return 4 * step
		}
		return step
	}
	attacks(t, v, "bits flipped", 8*size, part(2003), func(b []byte, i int) ([]byte, int64, int64) {
		b[i/8] ^= 1 << (i % 8)
		return b, int64(i / 8), int64(i/8) + 1
	})
	attacks(t, v, "lengths cut", size, part(401), func(b []byte, i int) ([]byte, int64, int64) {
		return b[:i], int64(i), int64(size)
	})
	for _, unit := range []int{512, 4096} {
		blocks := size / unit
		attacks(t, v, fmt.Sprintf("%d-byte blocks zeroed", unit), blocks, part(3), func(b []byte, i int) ([]byte, int64, int64) {
			clear(b[i*unit : (i+1)*unit])
			return b, int64(i * unit), int64((i + 1) * unit)
		})
		attacks(t, v, fmt.Sprintf("%d-byte blocks swapped", unit), blocks, part(3), func(b []byte, i int) ([]byte, int64, int64) {
			j := (i + 1 + i*i%max(blocks-1, 1)) % blocks
			copy(b[i*unit:(i+1)*unit], v.bytes[j*unit:])
			copy(b[j*unit:(j+1)*unit], v.bytes[i*unit:])
			return b, int64(min(i, j) * unit), int64(max(i, j)+1) * int64(unit)
		})
	}
}

// damageLog flips every bit of a short log, and returns the first complaint.
func damageLog() error {
	v, err := makeVictim(20, false)
	if err != nil {
		return err
	}
	first := v.tail
	for _, at := range v.ends {
		if at > 0 {
			first = min(first, at)
		}
	}
	var o outcome
	for i := 8 * first; i < 8*(v.tail+format.FrameHeaderSize); i++ {
		b := append([]byte(nil), v.bytes...)
		b[i/8] ^= 1 << (i % 8)
		if err := v.attack(b, i/8, i/8+1, &o); err != nil {
			return fmt.Errorf("bit %d: %w", i, err)
		}
	}
	return nil
}

// TestDamageLog is the control of what TestMutant relies on.
func TestDamageLog(t *testing.T) {
	if err := damageLog(); err != nil {
		t.Error(err)
	}
}

// copyLive copies files piece by piece while they are written, and opens the
// copies: each is refused, or has at least what was acknowledged when the
// copying began, and nothing invented.
func copyLive(seeds uint64) error {
	for seed := uint64(1); seed <= seeds; seed++ {
		if err := copyOnce(seed); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

func copyOnce(seed uint64) error {
	p := newPlayer(seed, &optionSets[0])
	rng := seeded(seed ^ 0xabc)
	if err := p.play(coreHistory(seed)[:rng.IntN(60)]); err != nil {
		return err
	}
	began := p.model.visible
	const piece = 4096
	copied := p.mem.Bytes(path)[:piece]
	slow := 1 + rng.IntN(6)
	for i, op := range append(coreHistory(seed + 1000)[:150], coreHistory(seed + 2000)[:150]...) {
		for range min(1, i) * rng.IntN(8) / slow {
			now := p.mem.Bytes(path)
			if len(copied) >= len(now) {
				break
			}
			copied = append(copied, now[len(copied):min(len(copied)+piece, len(now))]...)
		}
		if err := p.run(op); err != nil {
			return err
		}
	}
	if rest := p.mem.Bytes(path); len(rest) > len(copied) {
		copied = append(copied, rest[len(copied):]...)
	}
	mem := disk.NewMem(1)
	if err := mem.Put(path, copied); err != nil {
		return err
	}
	db, err := engine.Open(path, optionSets[0].options(mem, seed, 9))
	if err != nil {
		if proper(err) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	}
	n := int(db.Stats().NextID) - 1
	if n < began {
		return fmt.Errorf("the copy has %d turns, %d were there when it began", n, began)
	}
	for i := range n {
		got, err := db.Get(engine.TurnID(i + 1))
		if err != nil && i < began && !errors.Is(err, engine.ErrCorrupt) {
			return fmt.Errorf("turn %d of the copy: %w", i+1, err)
		}
		if err == nil {
			if err := sameTurn(p.model.turns[i], got); err != nil {
				return fmt.Errorf("the copy: %w", err)
			}
		}
	}
	return nil
}

func TestCopiesWhileWritten(t *testing.T) {
	if err := copyLive(uint64(amount(4, 12, 1000))); err != nil {
		t.Error(err)
	}
}
