package segment

import (
	"errors"
	"fmt"
	"sync/atomic"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// ErrNoTurn: the TurnID asked for is outside of the segment.
var ErrNoTurn = errors.New("turn is not in this segment")

// Turn is a turn as it goes into a segment and comes out of one.
type Turn struct {
	ID      uint64        // set by All; Build gives ids in order and ignores it
	Meta    []byte        // the meta part of its record
	Record  format.Record // decoded from Meta
	Content []byte
	Source  []byte // nil: none
}

// OpenOptions are how a segment is read.
type OpenOptions struct {
	NoMap    bool          // read by system calls only
	Decoders *DecoderCache // nil: one that all segments of the process share
}

// Segment reads one segment. All methods may be called concurrently, and take a
// reference themselves for as long as they run.
type Segment struct {
	region
	uuid     format.UUID
	entry    format.SegmentEntry
	decoders *DecoderCache
	decoder  atomic.Pointer[dictDecoder] // of the dictionary; nil: not made, or evicted
	layout   atomic.Pointer[layout]      // nil until first use
}

// layout is where a segment's parts lie.
type layout struct {
	content    pageSet
	source     pageSet
	keys       pageSet
	dictionary format.Section // Length 0: none
	blocksEnd  int64          // of the last block's space, from the start of the segment
	sections   []format.Section
	footer     format.Footer
}

// Open describes the segment that the catalog's entry e names in f. There is no
// I/O: header, footer and section table are read and held against e at first use.
// f stays the caller's and must outlive the segment. path is for messages.
func Open(f disk.File, path string, uuid format.UUID, e format.SegmentEntry, o OpenOptions) *Segment {
	s := &Segment{uuid: uuid, entry: e, decoders: o.Decoders}
	if s.decoders == nil {
		s.decoders = sharedDecoders()
	}
	s.region.init(f, path, e.Offset, e.Length, o.NoMap)
	return s
}

// Entry is what the catalog says of the segment.
func (s *Segment) Entry() format.SegmentEntry { return s.entry }

// Release gives up a reference that Acquire took. The last one unmaps and drops
// the decoder.
func (s *Segment) Release() {
	s.region.Release()
	if s.refs.Load() == 0 {
		s.decoders.drop(&s.decoder)
	}
}

// Close gives up the reference that Open made. Reads that hold one go on.
// Closing twice does nothing. The file stays open: it is the caller's.
func (s *Segment) Close() {
	if s.closed.CompareAndSwap(false, true) {
		s.Release()
	}
}

// enter begins a read: it takes a reference, which the caller releases unless
// there is an error.
func (s *Segment) enter() (*layout, error) {
	if !s.Acquire() {
		return nil, s.errClosed()
	}
	if l := s.layout.Load(); l != nil {
		return l, nil
	}
	l, err := s.load()
	if err != nil {
		s.Release()
		return nil, s.located(err)
	}
	return l, nil
}

// load reads header, footer and section table. A failure isn't kept: it may
// have been the moment's.
func (s *Segment) load() (*layout, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	header, err := s.readHeader()
	if err != nil {
		return nil, err
	}
	footer, table, err := s.readTail(&header)
	if err != nil {
		return nil, err
	}
	l := &layout{footer: footer, sections: table}
	if err := l.place(s, table); err != nil {
		return nil, err
	}
	s.layout.Store(l)
	return l, nil
}

func (s *Segment) readHeader() (format.SegmentHeader, error) {
	var b [format.SegmentHeaderSize]byte
	if s.length < format.SegmentHeaderSize+format.FooterSize {
		return format.SegmentHeader{}, format.Corruptf("segment entry", s.offset, "%d bytes are no segment", s.length)
	}
	if err := s.read(b[:], 0); err != nil {
		return format.SegmentHeader{}, err
	}
	h, err := format.DecodeSegmentHeader(b[:], s.offset)
	if err != nil {
		return h, err
	}
	e := &s.entry
	if h.UUID != s.uuid || h.Number != e.Number || h.Nonce != e.Nonce || h.FirstID != e.FirstID || h.Turns != e.Turns || h.Length != e.Length {
		return h, format.Corruptf("segment header", s.offset, "segment %d with %d turns from %d, but the catalog says segment %d with %d from %d", h.Number, h.Turns, h.FirstID, e.Number, e.Turns, e.FirstID)
	}
	if h.Turns > 1<<32 {
		return h, format.Corruptf("segment header", s.offset, "%d turns", h.Turns)
	}
	return h, nil
}

// readTail reads the footer and the section table in one go.
func (s *Segment) readTail(h *format.SegmentHeader) (format.Footer, []format.Section, error) {
	n := min(s.length-format.SegmentHeaderSize, format.FooterSize+format.MaxSections*format.SectionEntrySize)
	b := make([]byte, n)
	if err := s.read(b, s.length-n); err != nil {
		return format.Footer{}, nil, err
	}
	footer, err := format.DecodeFooter(b[n-format.FooterSize:], h, s.offset+s.length-format.FooterSize)
	if err != nil {
		return footer, nil, err
	}
	if footer.Checksum != s.entry.FooterSum {
		return footer, nil, format.Corruptf("segment footer", s.offset+s.length-format.FooterSize, "checksum differs from the catalog's")
	}
	size := int64(footer.Sections) * format.SectionEntrySize
	if size > n-format.FooterSize {
		return footer, nil, format.Corruptf("segment footer", s.offset+s.length-format.FooterSize, "%d sections", footer.Sections)
	}
	table, err := format.DecodeSections(b[n-format.FooterSize-size:n-format.FooterSize], h, &footer, s.offset+footer.TableOffset)
	return footer, table, err
}

// place takes the known sections from the table; others are skipped.
func (l *layout) place(s *Segment, table []format.Section) error {
	l.blocksEnd = l.footer.TableOffset
	for _, section := range table {
		var pages *pageSet
		switch section.Type {
		case format.SectionContentBlocks:
			pages = &l.content
		case format.SectionSourceBlocks:
			pages = &l.source
		case format.SectionKeys:
			pages = &l.keys
		case format.SectionDictionary:
			l.dictionary = section
			continue
		default:
			continue
		}
		if err := pages.init(&s.region, s.uuid, s.entry.Nonce, section); err != nil {
			return err
		}
		l.blocksEnd = min(l.blocksEnd, section.Offset)
	}
	if l.content.entries == 0 {
		return format.Corruptf("section table", s.offset+l.footer.TableOffset, "no content blocks")
	}
	return nil
}

// errNoPart says that a turn has fewer parts.
func (s *Segment) errNoPart(id uint64, part int) error {
	return fmt.Errorf("%w: part %d of turn %d", ErrNoTurn, part, id)
}

// local is the place of a TurnID within the segment.
func (s *Segment) local(id uint64) (uint32, error) {
	if id < s.entry.FirstID || id-s.entry.FirstID >= s.entry.Turns {
		return 0, fmt.Errorf("%w: %d, it holds %d to %d", ErrNoTurn, id, s.entry.FirstID, s.entry.EndID()-1)
	}
	return uint32(id - s.entry.FirstID), nil
}
