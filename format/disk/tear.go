package disk

import "math/rand/v2"

// SectorSize is the unit, in bytes, in which a power cut keeps or loses what
// was not synced.
const SectorSize = 512

// change is one unsynced operation on a file: a write of data at off, or
// (data nil) a truncation.
type change struct {
	off  int64
	data []byte // owned, never changed: shared by all images
	size int64  // length of the file afterwards
	was  int64  // length of the file before
}

func (c *change) isTruncate() bool { return c.data == nil }

// span returns the bytes whose content changed: those cut off by a truncation.
func (c *change) span() (from, to int64) {
	if c.isTruncate() {
		return c.size, max(c.size, c.was)
	}
	return c.off, c.off + int64(len(c.data))
}

// apply makes the whole change.
func (c *change) apply(im *image) {
	if c.isTruncate() {
		im.resize(c.size)
		return
	}
	im.writeAt(c.data, c.off)
	if im.size < c.size { // an earlier growth was lost, the size is written with this one
		im.resize(c.size)
	}
}

// tear returns what a power cut may leave of a file: its durable bytes, and of
// the changes since then what the mode draws. Sectors are written whole from
// the page cache, so one that shows a later write shows the earlier ones too,
// dropped or not. A truncation takes effect with its journal entry: before it,
// nothing written into the space it gave back can be seen.
func tear(durable *image, changes []change, mode Mode, rng *rand.Rand) image {
	out := durable.clone()
	if len(changes) == 0 || mode == KeepNone {
		return out
	}
	drawn, journal := fates(changes, mode, rng)
	largest, size := out.size, out.size
	for i := range changes {
		largest = max(largest, changes[i].size)
		if i < journal {
			size = changes[i].size
		}
	}
	out.resize(largest)
	s := chooseSectors(changes, drawn, journal, rng)
	for i := range changes {
		c := &changes[i]
		switch {
		case !c.isTruncate():
			s.write(&out, i, c, drawn[i])
		case i < journal:
			out.zero(c.size, largest)
		}
	}
	out.resize(size)
	return out
}

// sectors holds, for each sector that any change touches, which version of it
// reached the medium: 0 the durable one, i+1 the one after change i.
type sectors struct {
	first   int64
	version []int32
	frozen  []bool // given back by a truncation that is not in the journal; nil: none
}

func chooseSectors(changes []change, drawn []fate, journal int, rng *rand.Rand) *sectors {
	lo, hi := changes[0].span()
	for i := range changes[1:] {
		from, to := changes[i+1].span()
		lo, hi = min(lo, from), max(hi, to)
	}
	s := &sectors{first: lo / SectorSize}
	s.version = make([]int32, hi/SectorSize+1-s.first)
	for i := range changes {
		c := &changes[i]
		switch {
		case !c.isTruncate():
			s.choose(i, c, drawn[i], rng)
		case i >= journal:
			s.freeze(c)
		}
	}
	return s
}

// choose lets the sectors of write i that reach the medium show it.
func (s *sectors) choose(i int, c *change, f fate, rng *rand.Rand) {
	from, to := c.span()
	if f.how == cut {
		to = from + int64(f.arg)
	}
	if f.how == dropped || from == to {
		return
	}
	var bits uint64
	for k := s.index(from); k <= s.index(to-1); k++ {
		if f.how == torn {
			if bits < 16 {
				bits = rng.Uint64() | 1<<63
			}
			four := int(bits & 15)
			bits >>= 4
			if four >= f.arg {
				continue
			}
		}
		if s.frozen == nil || !s.frozen[k] {
			s.version[k] = int32(i + 1)
		}
	}
}

func (s *sectors) freeze(c *change) {
	from, to := c.span()
	if from == to {
		return
	}
	if s.frozen == nil {
		s.frozen = make([]bool, len(s.version))
	}
	for k := s.index(from); k <= s.index(to-1); k++ {
		s.frozen[k] = true
	}
}

// write copies what write i left in the sectors that show it or a later one.
func (s *sectors) write(out *image, i int, c *change, f fate) {
	from, to := c.span()
	shown := int32(i + 1)
	for from < to {
		k := s.index(from)
		end := min(to, s.end(k))
		switch {
		case s.version[k] < shown:
		case s.version[k] == shown && f.how == cut:
			end = min(end, c.off+int64(f.arg))
			out.writeAt(c.data[from-c.off:end-c.off], from)
			end = min(to, s.end(k))
		default: // a run of whole sectors
			for end < to && s.version[k+1] >= shown && f.how != cut {
				k++
				end = min(to, s.end(k))
			}
			out.writeAt(c.data[from-c.off:end-c.off], from)
		}
		from = end
	}
}

func (s *sectors) index(off int64) int { return int(off/SectorSize - s.first) }

func (s *sectors) end(k int) int64 { return (s.first + int64(k) + 1) * SectorSize }
