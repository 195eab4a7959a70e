package segment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"ctxdb/format"
)

// Identity is what binds a segment's bytes to their place in a file.
type Identity struct {
	UUID    format.UUID
	Number  uint64 // never used twice in the file
	Nonce   uint64 // random
	FirstID uint64
}

// BuildOptions trade size against time. The zero value is right for sealing.
type BuildOptions struct {
	BlockBytes       int               // plaintext of a content block, about; 0: 4,096
	SourceBlockBytes int               // plaintext of a source block, about; 0: 896 KiB
	DictionaryBytes  int               // at most; 0: chosen by trial; negative: none
	Level            zstd.EncoderLevel // of content blocks, by the library's encoder; 0: zdict's with a dictionary, zstd.SpeedBetterCompression without

	// Extra makes the sections that this package knows nothing about. It runs
	// while blocks are compressed, in a goroutine of its own, and must not panic;
	// nil: there are none.
	Extra func() []Extra
}

// Extra is a section of the caller's, kept in data pages. Type is one of
// format.SectionHot, SectionTerms, SectionVectors; ascending.
type Extra struct {
	Type format.SectionType
	Data []byte
}

const (
	defaultBlock       = 4 << 10
	defaultSourceBlock = 896 << 10
	maxBlockTarget     = 896 << 10 // a block may exceed its target by one piece
)

func (o BuildOptions) withDefaults() BuildOptions {
	if o.BlockBytes == 0 {
		o.BlockBytes = defaultBlock
	}
	if o.SourceBlockBytes == 0 {
		o.SourceBlockBytes = defaultSourceBlock
	}
	o.BlockBytes = min(max(o.BlockBytes, 1), maxBlockTarget)
	o.SourceBlockBytes = min(max(o.SourceBlockBytes, 1), maxBlockTarget)
	return o
}

// Built is a finished segment.
type Built struct {
	Bytes []byte
	Entry format.SegmentEntry // Offset is not set
}

// ErrBuild: what was built does not read as what it was built from. Nothing of
// it may be published.
var ErrBuild = errors.New("segment does not decode to its turns")

// Build lays turns out as a segment. They get the ids from id.FirstID on, in
// order. The same input gives the same bytes. Every block is decoded again and
// compared before Build returns. The turns are only read.
func Build(id Identity, turns []Turn, o BuildOptions) (*Built, error) {
	o = o.withDefaults()
	if len(turns) == 0 || id.FirstID < 1 || id.FirstID > format.MaxTurns || uint64(len(turns)) > format.MaxTurns+1-id.FirstID || uint64(len(turns)) > math.MaxUint32 {
		return nil, fmt.Errorf("segment %d: %d turns from %d: %w", id.Number, len(turns), id.FirstID, format.ErrTooLarge)
	}
	for i := range turns {
		if err := checkTurn(&turns[i]); err != nil {
			return nil, fmt.Errorf("turn %d: %w", id.FirstID+uint64(i), err)
		}
	}
	b := &builder{id: id, o: o, out: make([]byte, format.SegmentHeaderSize)}
	extra := aside(func() []Extra {
		if o.Extra == nil {
			return nil
		}
		return o.Extra()
	})
	err := b.blocks(turns)
	extras := extra() // also on failure: the goroutine reads the turns
	if err != nil {
		return nil, fmt.Errorf("segment %d: %w", id.Number, err)
	}
	b.sections(turns, extras)
	return b.finish(turns)
}

// checkTurn holds a turn's parts against each other: what is put away wrong can
// never be read again.
func checkTurn(t *Turn) error {
	n, ok := contentLength(t.Meta)
	if !ok || n != len(t.Content) || !intact(t.Meta, t.Content) {
		return fmt.Errorf("%w: content differs from its record", format.ErrCorrupt)
	}
	r := &t.Record
	if r.ContentLen != n || r.HasSource != (t.Source != nil) || r.SourceLen != len(t.Source) || r.HasSource && r.SourceSum != format.Hash(t.Source) {
		return fmt.Errorf("%w: source or length differ from the record", format.ErrCorrupt)
	}
	return nil
}

// aside runs f in a goroutine; the function that it returns waits for the result.
func aside[T any](f func() T) (result func() T) {
	c := make(chan T, 1)
	go func() { c <- f() }()
	return func() T { return <-c }
}

// builder gathers a segment's bytes.
type builder struct {
	id  Identity
	o   BuildOptions
	out []byte

	content, source []format.BlockEntry
	dictionary      int64 // size of its block; 0: none
	table           []format.Section
	rawBytes        uint64 // of content blocks
}

// blocks writes the dictionary, then content, then source. Sources are
// compressed beside the content: they take most of the time, and need no
// dictionary. The dictionary itself is compressed as they are, behind them.
func (b *builder) blocks(turns []Turn) error {
	chosen := make(chan []byte, 1)
	beside := aside(func() (s compressed) {
		pool := &plainEncoders
		if slices.ContainsFunc(turns, func(t Turn) bool { return t.Source != nil }) {
			pool = &bestEncoders
		}
		e := pool.Get().(*encoder)
		defer pool.Put(e)
		s.add([]*encoder{e}, (&packer{target: b.o.SourceBlockBytes}).source, turns)
		if d := <-chosen; d != nil && s.err == nil {
			s.dictionary, s.err = squeeze(e, makeBlockKey(0, 0), d)
		}
		return s
	})
	content := b.contents(turns, chosen)
	sources := beside() // also on failure: the goroutine reads the turns
	if err := cmp.Or(content.err, sources.err); err != nil {
		return err
	}
	if sources.dictionary.raw > 0 {
		if _, err := b.block(format.StreamDictionary, 0, sources.dictionary); err != nil {
			return err
		}
		b.dictionary = int64(len(b.out)) - format.SegmentHeaderSize
	}
	for _, p := range content.blocks {
		b.rawBytes += uint64(p.raw)
	}
	var err error
	if b.content, err = b.stream(format.StreamContent, content.blocks); err != nil {
		return err
	}
	b.source, err = b.stream(format.StreamSource, sources.blocks)
	return err
}

// contents compresses the content blocks, with a dictionary, which it chooses
// and announces, where one pays. However it ends, chosen is closed: somebody
// waits for it.
func (b *builder) contents(turns []Turn, chosen chan<- []byte) (c compressed) {
	defer close(chosen)
	e, err := chooseDictionary(turns, b.o)
	if err != nil {
		return compressed{err: err}
	}
	switch {
	case e != nil:
		chosen <- e.dictionary
	case b.o.Level != 0: // one that somebody measures
		e = plainEncoder(b.o.Level)
	default:
		e = plainEncoders.Get().(*encoder)
		defer plainEncoders.Put(e)
	}
	c.add(e.crew(), (&packer{target: b.o.BlockBytes}).content, turns)
	return c
}

// stream appends the blocks of a stream.
func (b *builder) stream(s format.Stream, blocks []squeezed) ([]format.BlockEntry, error) {
	entries := make([]format.BlockEntry, len(blocks))
	for i, p := range blocks {
		var err error
		if entries[i], err = b.block(s, i, p); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// block appends one block.
func (b *builder) block(stream format.Stream, ordinal int, p squeezed) (format.BlockEntry, error) {
	offset := int64(len(b.out))
	size := format.BlockSize(len(p.stored))
	if offset+size > format.MaxSegment {
		return format.BlockEntry{}, fmt.Errorf("%w: segment in bytes, the limit is %d", format.ErrTooLarge, int64(format.MaxSegment))
	}
	b.out = append(b.out, make([]byte, format.BlockHeaderSize)...)
	b.out = append(b.out, p.stored...)
	b.out = append(b.out, make([]byte, offset+size-int64(len(b.out)))...)
	h := format.BlockHeader{
		Stored: uint32(len(p.stored)), Raw: uint32(p.raw), Turn: uint32(p.first >> 32), Part: uint32(p.first),
		Ordinal: uint32(ordinal), Stream: stream, Codec: p.codec,
	}
	format.PutBlockHeader(b.out[offset:], b.id.UUID, b.id.Nonce, offset, &h)
	return format.BlockEntry{Turn: h.Turn, Part: h.Part, Offset: offset, Stored: h.Stored}, nil
}

// sections appends the index pages.
func (b *builder) sections(turns []Turn, extras []Extra) {
	b.addSection(format.SectionContentBlocks, len(b.content), b.blockPages(format.SectionContentBlocks, b.content))
	if len(b.source) > 0 {
		b.addSection(format.SectionSourceBlocks, len(b.source), b.blockPages(format.SectionSourceBlocks, b.source))
	}
	if keys := turnKeys(b.id.FirstID, turns); len(keys) > 0 {
		b.addSection(format.SectionKeys, len(keys), keyPages(nil, b.id.UUID, b.id.Nonce, keys))
	}
	if b.dictionary > 0 {
		b.table = append(b.table, format.Section{Type: format.SectionDictionary, Offset: format.SegmentHeaderSize, Length: b.dictionary, Entries: 1})
	}
	for _, x := range extras {
		if len(x.Data) > 0 {
			b.addSection(x.Type, len(x.Data), dataPages(x.Data, b.id, x.Type))
		}
	}
}

func (b *builder) addSection(t format.SectionType, entries int, pages []byte) {
	b.table = append(b.table, format.Section{Type: t, Offset: int64(len(b.out)), Length: int64(len(pages)), Entries: uint64(entries)})
	b.out = append(b.out, pages...)
}

func (b *builder) blockPages(section format.SectionType, entries []format.BlockEntry) (pages []byte) {
	for chunk := range slices.Chunk(entries, format.IndexPageEntries) {
		page := make([]byte, format.IndexPageSize)
		for i, e := range chunk {
			format.PutBlockEntry(page, i, e)
		}
		format.SealPage(page, b.id.UUID, b.id.Nonce, section, len(pages)/format.IndexPageSize, len(chunk))
		pages = append(pages, page...)
	}
	return pages
}

func turnKeys(firstID uint64, turns []Turn) (keys []format.KeyEntry) {
	for i := range turns {
		if key := turns[i].Record.Key; key != "" {
			keys = append(keys, format.KeyEntry{Hash: format.HashKey(key), ID: firstID + uint64(i)})
		}
	}
	sortKeys(keys)
	return keys
}

// finish appends table and footer, writes the header and sums up.
func (b *builder) finish(turns []Turn) (*Built, error) {
	table := format.EncodeSections(b.table)
	h := format.SegmentHeader{
		UUID: b.id.UUID, Number: b.id.Number, Nonce: b.id.Nonce, FirstID: b.id.FirstID, Turns: uint64(len(turns)),
		Length: int64(len(b.out) + len(table) + format.FooterSize),
	}
	if h.Length > format.MaxSegment {
		return nil, fmt.Errorf("%w: segment is %d bytes, the limit is %d", format.ErrTooLarge, h.Length, int64(format.MaxSegment))
	}
	f := format.Footer{Number: b.id.Number, TableOffset: int64(len(b.out)), Sections: uint32(len(b.table))}
	b.out = append(b.out, table...)
	b.out = append(b.out, format.EncodeFooter(&h, table, &f)...)
	copy(b.out, h.Encode())
	e := format.SegmentEntry{
		Number: b.id.Number, Length: h.Length, FirstID: b.id.FirstID, Turns: uint64(len(turns)),
		Nonce: b.id.Nonce, FooterSum: f.Checksum, RawBytes: b.rawBytes,
	}
	for i := range turns {
		addTurn(&e, &turns[i].Record)
	}
	return &Built{Bytes: b.out, Entry: e}, nil
}

// addTurn counts a turn in the totals of a catalog entry.
func addTurn(e *format.SegmentEntry, r *format.Record) {
	e.ContentBytes += uint64(r.ContentLen)
	e.SourceBytes += uint64(r.SourceLen)
	e.Tokens += r.Tokens
	if r.Key != "" {
		e.Keys++
	}
	if r.Role == "meta" {
		e.MetaTurns++
	}
	if r.Time.IsZero() {
		return
	}
	at := nanoseconds(r.Time.Unix(), r.Time.Nanosecond())
	if e.MinTime == 0 && e.MaxTime == 0 {
		e.MinTime, e.MaxTime = at, at
	}
	e.MinTime, e.MaxTime = min(e.MinTime, at), max(e.MaxTime, at)
}

// nanoseconds since 1970 UTC, as near as 64 bits can say.
func nanoseconds(seconds int64, nano int) int64 {
	const limit = math.MaxInt64/1_000_000_000 - 1
	return min(max(seconds, -limit), limit)*1_000_000_000 + int64(nano)
}
