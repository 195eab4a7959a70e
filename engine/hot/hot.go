// Package hot keeps what a turn was about in a line: the entries of the hot
// index, which a model can read without a page being touched.
//
// An [Entry] is made from a turn when it is sealed. [Encode] packs the entries
// of a segment; a [Reader] gives them back one by one.
//
// The words that tell a turn from others are not among it: they depend on the
// others that it is shown with, and are taken from the index of terms then. Nor
// are thread and time, which that index and the turn's record have.
//
// The bytes: u32 version, u32 number of entries, then for each group of 128
// entries u32 offset and u32 length of its plaintext, then the groups, a zstd
// frame each. An entry is uvarints flags (1: decision), tokens, bytes, parts;
// strings role and summary; uvarint number of entities and those strings; a
// string is a uvarint length and its bytes.
package hot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Entry is what the hot index knows of a turn.
type Entry struct {
	Tokens   uint64
	Bytes    uint64 // of content
	Parts    uint64 // that the file cuts the content into
	Decision bool
	Role     string
	Summary  string   // the caller's, else the sentence that tells most
	Entities []string // at most MaxEntities
}

// MaxEntities is how many entities of a turn an entry keeps, and maxText how
// many bytes of each string.
const (
	MaxEntities = 4
	maxText     = 4 << 10
)

const (
	groupTurns = 128     // entries of a group: a tenth smaller than with 64, 15 us more to read
	maxGroup   = 4 << 20 // plaintext of a group in bytes
	version    = 2
	maxTurns   = 1 << 28 // of a segment; an int holds it everywhere
	frameSlack = 1 << 10 // what a zstd frame may be longer than its plaintext
)

var (
	// ErrCorrupt says that bytes are no encoded entries.
	ErrCorrupt = errors.New("corrupt hot entries")
	// ErrVersion says that another program encoded them, in another way.
	ErrVersion = errors.New("hot entries of another version")
)

// Encode packs entries in the order of their turns.
func Encode(entries []Entry) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<17))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	groups := (len(entries) + groupTurns - 1) / groupTurns
	out := binary.LittleEndian.AppendUint32(nil, version)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(entries)))
	table := len(out)
	out = append(out, make([]byte, 8*groups)...)
	for g := range groups {
		plain := appendEntries(nil, entries[g*groupTurns:min((g+1)*groupTurns, len(entries))])
		binary.LittleEndian.PutUint32(out[table+8*g:], uint32(len(out)))
		binary.LittleEndian.PutUint32(out[table+8*g+4:], uint32(len(plain)))
		out = enc.EncodeAll(plain, out)
	}
	return out, nil
}

func appendEntries(b []byte, entries []Entry) []byte {
	text := func(s string) {
		s = s[:min(len(s), maxText)]
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, e := range entries {
		flags := uint64(0)
		if e.Decision {
			flags = 1
		}
		entities := e.Entities[:min(len(e.Entities), MaxEntities)]
		b = binary.AppendUvarint(b, flags)
		b = binary.AppendUvarint(b, e.Tokens)
		b = binary.AppendUvarint(b, e.Bytes)
		b = binary.AppendUvarint(b, e.Parts)
		text(e.Role)
		text(e.Summary)
		b = binary.AppendUvarint(b, uint64(len(entities)))
		for _, s := range entities {
			text(s)
		}
	}
	return b
}

// Reader serves encoded entries where they lie. For many goroutines.
type Reader struct {
	r     io.ReaderAt
	size  int64
	turns int
}

// Open reads the head of encoded entries of size bytes. r stays the caller's.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	var head [8]byte
	if size < int64(len(head)) {
		return nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, size)
	}
	if _, err := r.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if v := binary.LittleEndian.Uint32(head[:]); v != version {
		return nil, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, v, version)
	}
	turns := binary.LittleEndian.Uint32(head[4:])
	groups := (int64(turns) + groupTurns - 1) / groupTurns
	if turns > maxTurns || 8+8*groups > size {
		return nil, fmt.Errorf("%w: %d turns in %d bytes", ErrCorrupt, turns, size)
	}
	return &Reader{r: r, size: size, turns: int(turns)}, nil
}

// Turns is the number of entries.
func (h *Reader) Turns() int { return h.turns }

var decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxGroup), zstd.WithDecodeAllCapLimit(true))

// Entry returns the entry of a turn. It is the caller's.
func (h *Reader) Entry(ordinal int) (Entry, error) {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	if err := h.load(buf, ordinal); err != nil {
		return Entry{}, err
	}
	d := decoding{rest: buf.plain}
	for range ordinal % groupTurns {
		d.skip()
	}
	e := d.entry()
	if d.bad {
		return Entry{}, fmt.Errorf("%w: entry of turn %d breaks the rules", ErrCorrupt, ordinal)
	}
	return e, nil
}

// buffer is memory for a group.
type buffer struct{ stored, plain []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// load reads the group that holds a turn.
func (h *Reader) load(buf *buffer, ordinal int) error {
	if ordinal < 0 || ordinal >= h.turns {
		return fmt.Errorf("%w: turn %d of %d", ErrCorrupt, ordinal, h.turns)
	}
	g := ordinal / groupTurns
	raw, err := h.place(g, buf)
	if err != nil {
		return err
	}
	// DecodeAll is bounded by the capacity, which therefore is exact.
	buf.plain = slices.Grow(buf.plain[:0], raw)[:0:raw]
	if buf.plain, err = decoder.DecodeAll(buf.stored, buf.plain); err != nil || len(buf.plain) != raw {
		return fmt.Errorf("%w: group %d: %d bytes of %d, %v", ErrCorrupt, g, len(buf.plain), raw, err)
	}
	return nil
}

// place reads the stored bytes of a group, and tells the size of its plaintext.
func (h *Reader) place(g int, buf *buffer) (raw int, err error) {
	groups := (h.turns + groupTurns - 1) / groupTurns
	var table [16]byte
	row := table[:]
	if g == groups-1 {
		row = row[:8]
	}
	if _, err := h.r.ReadAt(row, int64(8+8*g)); err != nil && err != io.EOF {
		return 0, err
	}
	from, end := int64(binary.LittleEndian.Uint32(row)), h.size
	plain := int64(binary.LittleEndian.Uint32(row[4:])) // an int is too small for it on 32 bits
	if len(row) == 16 {
		end = int64(binary.LittleEndian.Uint32(row[8:]))
	}
	if from < int64(8+8*groups) || end > h.size || from > end || plain > maxGroup || end-from > plain+frameSlack {
		return 0, fmt.Errorf("%w: group %d at %d to %d", ErrCorrupt, g, from, end)
	}
	buf.stored = slices.Grow(buf.stored[:0], int(end-from))[:end-from]
	if _, err := h.r.ReadAt(buf.stored, from); err != nil && err != io.EOF {
		return 0, err
	}
	return int(plain), nil
}

// decoding walks entries.
type decoding struct {
	rest []byte
	bad  bool
}

func (d *decoding) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// text is the next string, in the group's memory.
func (d *decoding) text() []byte {
	n := d.number()
	if n > maxText || n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoding) entry() Entry {
	e := Entry{Decision: d.number()&1 != 0, Tokens: d.number(), Bytes: d.number(), Parts: d.number()}
	e.Role, e.Summary = string(d.text()), string(d.text())
	for n := d.entities(); n > 0 && !d.bad; n-- {
		e.Entities = append(e.Entities, string(d.text()))
	}
	return e
}

// skip goes over an entry.
func (d *decoding) skip() {
	for range 4 {
		d.number()
	}
	d.text()
	d.text()
	for n := d.entities(); n > 0 && !d.bad; n-- {
		d.text()
	}
}

func (d *decoding) entities() uint64 {
	n := d.number()
	if n > MaxEntities {
		d.bad = true
	}
	return n
}
