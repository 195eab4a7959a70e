package engine

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// create makes the file if nothing is at path. Whoever comes second opens what
// the first one made. On return the file is whole and its name is durable.
func create(o *Options, path string) error {
	f, tmp, err := o.FS.CreateTemp(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := initialize(o, f); err != nil {
		return errors.Join(err, o.FS.Remove(tmp))
	}
	err = o.FS.Link(tmp, path)
	if rerr := o.FS.Remove(tmp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) && err == nil {
		err = rerr
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return o.FS.SyncDir(path)
}

// initialize writes the leading blocks of an empty file and syncs them. Slot A
// comes last: where it holds a claim, the claim stands until slot B is durable.
func initialize(o *Options, f disk.File) error {
	s := firstSuperblock(o, format.StateClosed)
	if err := entropy(o, s.UUID[:]); err != nil {
		return err
	}
	if _, err := f.WriteAt(make([]byte, format.HolderSize), format.HolderOffset); err != nil {
		return fmt.Errorf("write the holder block: %w", err)
	}
	for i, slot := range []int64{format.SlotB, format.SlotA} {
		if err := writeSlot(o, f, &s, uint64(i+1), slot); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func firstSuperblock(o *Options, state format.State) format.Superblock {
	return format.Superblock{
		Major: format.Major, State: state, Created: o.Now().UnixNano(),
		NextID: 1, NextLSN: 1, NextSegment: 1, NextCycle: 1, End: format.FirstExtent,
	}
}

// claim makes an existing file of no bytes a ctxdb file. The claim is synced
// first, so that a crash leaves something that may be started over.
//
// REQUIRES: the lock is held.
func claim(o *Options, f disk.File) error {
	s := firstSuperblock(o, format.StateCreating)
	if err := writeSlot(o, f, &s, 0, format.SlotA); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return initialize(o, f)
}

// claimable reports whether a file holds nothing but what an interrupted claim
// may leave: no bytes; a superblock of state creating and no other; or one of
// which only some sectors reached the disk.
func claimable(f disk.File) (bool, error) {
	size, err := f.Size()
	if err != nil || size == 0 {
		return err == nil, err
	}
	if size > format.FirstExtent {
		return false, nil
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return false, err
	}
	if s, err := format.DecodeSuperblock(b, format.SlotA); err == nil {
		return s.State == format.StateCreating && !validSlot(b, format.SlotB), nil
	}
	return size == format.SuperblockSize && tornClaim(b), nil
}

// tornClaim: of a claim only the first sector and the last have bytes.
func tornClaim(b []byte) bool {
	const sector = 512
	zero := func(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
	claim := firstSuperblock(&Options{Now: time.Now}, format.StateCreating)
	head := claim.Encode(format.SlotA)[:16] // magic, version, state
	return zero(b[sector:len(b)-8]) && (zero(b[:sector]) || bytes.Equal(b[:16], head))
}

func validSlot(file []byte, slot int) bool {
	if len(file) < slot+format.SuperblockSize {
		return false
	}
	_, err := format.DecodeSuperblock(file[slot:slot+format.SuperblockSize], int64(slot))
	return err == nil
}

// writeSlot puts a superblock with a fresh nonce into a slot. It does not sync.
func writeSlot(o *Options, f disk.File, s *format.Superblock, epoch uint64, slot int64) error {
	nonce, err := random(o)
	if err != nil {
		return err
	}
	s.Epoch, s.Nonce = epoch, nonce
	if _, err := f.WriteAt(s.Encode(slot), slot); err != nil {
		return fmt.Errorf("write the superblock at offset %d: %w", slot, err)
	}
	return nil
}

// random returns 64 random bits, never 0.
func random(o *Options) (uint64, error) {
	for {
		var b [8]byte
		if err := entropy(o, b[:]); err != nil {
			return 0, err
		}
		if n := binary.LittleEndian.Uint64(b[:]); n != 0 {
			return n, nil
		}
	}
}

func entropy(o *Options, b []byte) error {
	r := o.Entropy
	if r == nil {
		r = rand.Reader
	}
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("random numbers: %w", err)
	}
	return nil
}
