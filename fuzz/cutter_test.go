package fuzz

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"

	"ctxdb/engine"
	"ctxdb/format"
	"ctxdb/format/disk"
)

// cutter takes images of what a power cut at this instant could leave, and
// looks at each. An image before an operation is one after the operation that
// came before, so that each operation is cut on both sides.
type cutter struct {
	rng      *rand.Rand
	every    int  // cut at one in so many operations; 0: at each
	met      int  // operations so far
	variants int  // at each cut
	write    int  // one in so many distinct images is opened for writing too
	deep     int  // one in so many of those is cut during that; 0: none
	lone     bool // each slot alone must do
	vectors  bool // vectors are those of their turns
	tally    *tally
	seen     map[uint64]int // images of this life, and how many turns each has
	buf      []byte
	err      error // the first contradiction
}

// tally counts.
type tally struct{ cuts, tried, distinct, written, deep int }

func (t *tally) add(o tally) {
	t.cuts += o.cuts
	t.tried += o.tried
	t.distinct += o.distinct
	t.written += o.written
	t.deep += o.deep
}

func (t tally) String() string {
	return fmt.Sprintf("%d cuts, %d images tried, %d distinct, %d opened for writing too, %d cut again during that", t.cuts, t.tried, t.distinct, t.written, t.deep)
}

func newCutter(seed uint64) *cutter {
	return &cutter{rng: seeded(seed ^ 0xc0ffee), variants: 17, write: 8, deep: 12, lone: true, tally: &tally{}, seen: map[uint64]int{}}
}

// forget: turns of unknown outcome have got one, so that images must be looked
// at anew.
func (c *cutter) forget() { clear(c.seen) }

// draw returns the variants for one cut: each mode, then more of the random ones.
func (c *cutter) draw() []disk.Variant {
	all := disk.Variants(c.rng.Uint64())
	for len(all) < c.variants {
		more := disk.Variants(c.rng.Uint64())[2:]
		all = append(all, more[:min(len(more), c.variants-len(all))]...)
	}
	return all[:c.variants]
}

// at cuts the power now.
func (c *cutter) at(m *Model, mem *disk.Mem, where string) {
	if c.met++; c.err != nil || c.every > 0 && c.met%c.every != 0 {
		return
	}
	c.tally.cuts++
	for _, v := range c.draw() {
		c.tally.tried++
		if err := c.look(m, mem.Crash(v)); err != nil {
			c.err = fmt.Errorf("%s, %v: %w", where, v, err)
			return
		}
	}
}

// look holds one image against the model.
func (c *cutter) look(m *Model, im *disk.Mem) error {
	h, there, err := c.hash(im)
	if err != nil {
		return err
	}
	if !there {
		if m.exists {
			return errors.New("the file is gone")
		}
		return nil
	}
	n, known := c.seen[h]
	if known {
		return m.allows(n)
	}
	c.tally.distinct++
	if n, err = c.readOnly(m, im, h); err != nil {
		return err
	}
	c.seen[h] = n
	if c.write > 0 && c.rng.IntN(c.write) == 0 {
		c.tally.written++
		return c.forWriting(m, im, n)
	}
	return nil
}

// hash tells images apart by the file's bytes.
func (c *cutter) hash(im *disk.Mem) (h uint64, there bool, err error) {
	f, err := im.Open(path, false)
	if err != nil {
		return 0, false, nil
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return 0, false, err
	}
	if int64(cap(c.buf)) < size {
		c.buf = make([]byte, 2*size)
	}
	c.buf = c.buf[:size]
	if n, err := f.ReadAt(c.buf, 0); int64(n) < size && err != io.EOF {
		return 0, false, err
	}
	return xxhash.Sum64(c.buf), true, nil
}

var errChanges = errors.New("a reader wants to change the file")

// readOnly opens the image for reading, with everything forbidden that changes
// a byte.
func (c *cutter) readOnly(m *Model, im *disk.Mem, before uint64) (n int, err error) {
	slots := c.slots()
	if !m.exists && (slots[0] == nil || slots[1] == nil) {
		return 0, c.unborn(im)
	}
	im.SetHook(func(op disk.Op) error {
		if op.Kind.Changes() {
			return errChanges
		}
		return nil
	})
	defer im.SetHook(nil)
	if n, err = c.readAll(m, im); err != nil {
		return 0, fmt.Errorf("read-only: %w", err)
	}
	if c.lone && slots[0] != nil && slots[1] != nil && !sameSlots(slots[0], slots[1]) {
		if err := c.slotsAlone(m, im); err != nil {
			return 0, err
		}
	}
	after, _, err := c.hash(im)
	if err == nil && after != before {
		err = errors.New("read-only: bytes changed")
	}
	return n, err
}

// readAll opens for reading and compares.
func (c *cutter) readAll(m *Model, im *disk.Mem) (n int, err error) {
	db, err := engine.Open(path, reading(im))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	n = int(db.Stats().NextID) - 1
	if err := m.allows(n); err != nil {
		return 0, err
	}
	if err := m.compare(db, n, 1+c.rng.IntN(40)); err != nil {
		return 0, err
	}
	if c.vectors {
		if err := vectorsMatch(m, db, n); err != nil {
			return 0, err
		}
	}
	if c.rng.IntN(4) == 0 {
		return n, verified(db, false)
	}
	return n, nil
}

// unborn: an Open that makes the file has not returned. The next one does.
func (c *cutter) unborn(im *disk.Mem) error {
	db, err := engine.Open(path, optionSets[0].options(im, c.rng.Uint64(), 0))
	if err != nil {
		return fmt.Errorf("creation interrupted: %w", err)
	}
	if n := db.Stats().Turns; n != 0 {
		return fmt.Errorf("creation interrupted: %d turns", n)
	}
	return db.Close()
}

// slots decodes the superblocks of the image that was hashed last.
func (c *cutter) slots() (s [2]*format.Superblock) {
	for i, at := range []int64{format.SlotA, format.SlotB} {
		if int64(len(c.buf)) < at+format.SuperblockSize {
			continue
		}
		if d, err := format.DecodeSuperblock(c.buf[at:at+format.SuperblockSize], at); err == nil && d.State != format.StateCreating {
			s[i] = &d
		}
	}
	return s
}

func sameSlots(a, b *format.Superblock) bool {
	return a.RootSum == b.RootSum && a.RootOffset == b.RootOffset && a.NextLSN == b.NextLSN && a.State == b.State && a.NextCycle == b.NextCycle
}

// slotsAlone: nothing that either superblock names is overwritten before both
// have moved on, so each alone shows all that was acknowledged.
func (c *cutter) slotsAlone(m *Model, im *disk.Mem) error {
	if m.forked { // this life may have found a large batch between its two publications
		alone := *m
		alone.durable = m.firm
		m = &alone
	}
	for i, other := range []int64{format.SlotB, format.SlotA} {
		one := im.Crash(disk.Variant{})
		f, err := one.Open(path, true)
		if err != nil {
			return err
		}
		if err := disk.WriteZeros(f, other, format.SuperblockSize); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		if _, err := c.readAll(m, one); err != nil {
			return fmt.Errorf("slot %c alone: %w", 'A'+i, err)
		}
	}
	return nil
}

// forWriting opens an image for writing, appends, closes, and reads again. The
// power may be cut anywhere in that.
func (c *cutter) forWriting(m *Model, im *disk.Mem, n int) error {
	im = im.Crash(disk.Variant{})
	m = m.fork(n)
	sub := c.sub()
	if sub != nil {
		im.SetHook(func(op disk.Op) error {
			if op.Kind.Changes() {
				sub.at(m, im, fmt.Sprintf("then before %v", op))
			}
			return nil
		})
	}
	err := c.nextLife(m, im)
	im.SetHook(nil)
	if sub != nil {
		c.tally.add(tally{cuts: sub.tally.cuts, tried: sub.tally.tried, distinct: sub.tally.distinct, written: sub.tally.written, deep: sub.tally.deep + 1})
		if sub.err != nil {
			return fmt.Errorf("next life: %w", sub.err)
		}
	}
	if err != nil {
		return fmt.Errorf("next life: %w", err)
	}
	return nil
}

// sub is the cutter for a life after a crash, and nil mostly.
func (c *cutter) sub() *cutter {
	if c.deep == 0 || c.rng.IntN(c.deep) > 0 {
		return nil
	}
	return &cutter{rng: c.rng, vectors: c.vectors, variants: 4, write: 10 * c.write, deep: c.deep, lone: c.lone, tally: &tally{}, seen: map[uint64]int{}}
}

func (c *cutter) nextLife(m *Model, im *disk.Mem) error {
	db, err := engine.Open(path, optionSets[0].options(im, c.rng.Uint64(), 0))
	if err != nil {
		return err
	}
	if err := m.compare(db, m.visible, 1+c.rng.IntN(20)); err != nil {
		return err
	}
	probe := makeTurn(c.rng.Uint64()>>4, tiny)
	probe.Key = fmt.Sprintf("probe %d", m.visible)
	stored, _, err := m.plan([]engine.Turn{probe})
	if err != nil {
		return err
	}
	m.propose(stored)
	ids, err := db.Append(ctx, probe)
	if err != nil {
		return err
	}
	m.acknowledge(true)
	if len(ids) != 1 || int(ids[0]) != m.visible {
		return fmt.Errorf("the next append gets ids %d, want %d", ids, m.visible)
	}
	if err := verified(db, true); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	return c.closedFile(m, im)
}

func (c *cutter) closedFile(m *Model, im *disk.Mem) error {
	db, err := engine.Open(path, reading(im))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := m.compare(db, m.visible, 1+c.rng.IntN(40)); err != nil {
		return err
	}
	return verified(db, true)
}
