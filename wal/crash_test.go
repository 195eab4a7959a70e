package wal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// lives is a history of one file: in each life a log is written and power is
// cut, then recovery reads it and the next life begins in the same space.
type lives struct {
	rng   *rand.Rand
	mem   *disk.Mem
	file  disk.File
	log   []format.LogExtent
	first format.LSN // of this life
	id    uint64     // first one of this life
	dirty bool       // extents are not filled with zeros: leftovers of earlier lives stay
	equal bool       // all frames are alike in size and count, so that ghosts fit
	lazy  int        // syncs and pauses are one in so many

	w       *Writer
	written []placed // turns of this life, in order, written or tried
	synced  format.LSN
	nextID  uint64
}

// crashLives plays some lives and returns the first complaint.
func crashLives(t *testing.T, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	l := &lives{rng: rng, first: 1, id: 1, dirty: rng.IntN(2) == 0, equal: rng.IntN(2) == 0, lazy: 1 + rng.IntN(20)}
	l.log = []format.LogExtent{extentA, extentB}
	l.mem, l.file = memFile(t, seed, l.log...)
	for life := range 4 {
		if err := l.live(); err != nil {
			return fmt.Errorf("life %d: %w", life, err)
		}
		variant := disk.Variants(rng.Uint64())[rng.IntN(len(disk.Variants(0)))]
		for _, v := range append(disk.Variants(rng.Uint64()), variant) {
			r, err := l.recover(l.mem.Crash(v))
			if err != nil {
				return fmt.Errorf("life %d, %v: %w", life, v, err)
			}
			if v == variant {
				l.first, l.id = r.LastLSN+1, r.NextID
			}
		}
		if err := l.again(l.mem.Crash(variant)); err != nil {
			return fmt.Errorf("life %d: %w", life, err)
		}
	}
	return nil
}

// live writes groups until some random moment.
func (l *lives) live() error {
	l.w = NewWriter(l.file, testUUID, l.log[0], l.first)
	l.written, l.synced, l.nextID = nil, l.first-1, l.id
	for range 1 + l.rng.IntN(25) {
		err := l.group()
		if errors.Is(err, ErrFull) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.rng.IntN(l.lazy+1) > 0 {
			continue // a policy that does not sync each group
		}
		if err := l.sync(); err != nil {
			return err
		}
		if l.rng.IntN(2) == 0 {
			if err := l.w.Promise(l.synced, l.nextID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *lives) sync() error {
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.synced = l.w.Next() - 1
	return nil
}

// group writes up to four frames.
func (l *lives) group() error {
	for range 1 + l.rng.IntN(4) {
		size, count := 448, uint64(1)
		if !l.equal {
			size = 1 + l.rng.IntN(1500)
			count += l.rng.Uint64N(uint64(min(size, 3)))
		}
		payload := make([]byte, size)
		for i := range payload {
			payload[i] = byte(l.rng.Uint32())
		}
		if int64(size) > l.w.Room() {
			if err := l.rotate(); err != nil {
				return err
			}
		}
		at := framesAt(l.w.Extent()) + l.w.Used()
		lsn, _, err := l.w.Stage(l.synced, l.nextID, count, size, func(dst []byte) []byte { return append(dst, payload...) })
		if err != nil {
			return err
		}
		l.written = append(l.written, placed{Frame: format.Frame{LSN: lsn, FirstID: l.nextID, Count: count}, at: at, payload: payload})
		l.nextID += count
	}
	return l.w.Write()
}

func (l *lives) rotate() error {
	if err := l.w.Write(); err != nil {
		return err
	}
	if l.w.Extent() == l.log[1] {
		return ErrFull
	}
	if err := l.sync(); err != nil {
		return err
	}
	l.w = NewWriter(l.file, testUUID, l.log[1], l.w.Next())
	return nil
}

// recover reads what a crash left: a prefix of what was written, with all
// that a sync made durable, and nothing else.
func (l *lives) recover(m *disk.Mem) (*Result, error) {
	f, err := m.Open("log", true)
	if err != nil {
		return nil, err
	}
	r, err := Scan(f, testUUID, l.log, ScanOptions{FirstLSN: l.first, NextID: l.id})
	if err != nil {
		return nil, err
	}
	if len(r.Damages) > 0 || r.LastLSN < l.synced {
		return nil, fmt.Errorf("damage %+v, last LSN %d where %d is durable", r.Damages, r.LastLSN, l.synced)
	}
	if len(r.Entries) > len(l.written) {
		return nil, fmt.Errorf("%d frames where %d were written", len(r.Entries), len(l.written))
	}
	nextID := l.id
	for i, e := range r.Entries {
		w := l.written[i]
		if e.At != w.at || e.Frame.LSN != w.LSN || e.Frame.FirstID != w.FirstID || e.Frame.Count != w.Count || !bytes.Equal(e.Payload, w.payload) {
			return nil, fmt.Errorf("frame %d at %d, id %d, is not %v, id %d, that was written", e.Frame.LSN, e.At, e.Frame.FirstID, w, w.FirstID)
		}
		nextID += e.Frame.Count
	}
	for _, w := range l.written[len(r.Entries):] {
		if w.LSN <= l.synced {
			return nil, fmt.Errorf("%v was durable and is lost", w)
		}
	}
	if r.NextID != nextID {
		return nil, fmt.Errorf("next id %d, want %d", r.NextID, nextID)
	}
	return r, nil
}

// again begins a life in the same space, with salts of its own.
func (l *lives) again(m *disk.Mem) error {
	f, err := m.Open("log", true)
	if err != nil {
		return err
	}
	l.mem, l.file = m, f
	l.log = slices.Clone(l.log)
	for i := range l.log {
		x := &l.log[i]
		x.Cycle, x.Salt = x.Cycle+2, l.rng.Uint64()
		if !l.dirty {
			if err := Prepare(f, testUUID, *x); err != nil {
				return err
			}
			continue
		}
		for _, trailer := range []bool{false, true} {
			if err := disk.WriteFull(f, format.EncodeLogEdge(testUUID, *x, trailer), edgeAt(*x, trailer)); err != nil {
				return err
			}
		}
	}
	return f.Sync()
}

func TestCrashes(t *testing.T) {
	seeds := uint64(400)
	if trial.Brief() {
		seeds = 50
	}
	for seed := range seeds {
		if err := crashLives(t, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
