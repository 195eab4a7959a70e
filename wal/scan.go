package wal

import (
	"fmt"
	"io"
	"iter"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// Entry is a frame of turns that counts.
type Entry struct {
	Frame   format.Frame
	At      int64  // absolute offset of the frame
	Payload []byte // shares memory with all payloads of the same extent
}

// Turns takes the payload apart.
func (e Entry) Turns() iter.Seq2[RawTurn, error] {
	return Turns(e.Payload, e.Frame.Count, e.At+format.FrameHeaderSize)
}

// Damage is a range of acknowledged bytes that differ from what was written.
type Damage struct {
	// The ids that can't be read. Count is 0 where no turn is affected. Where
	// the last frames below a promise have no readable header, the ids of
	// unacknowledged frames behind them are included: none may be given again.
	FirstID, Count uint64
	Offset, Length int64 // absolute, in bytes; to be kept for salvage. Length 0: only zeros are there
	Detail         string
}

// Position is where a later Scan goes on. The zero value is no position.
type Position struct {
	Cycle    uint64     // of the extent
	At       int64      // absolute offset in it
	LSN      format.LSN // of the next frame
	NextID   uint64     // of the next turn
	Promised format.LSN // the highest promise seen so far
}

// Use says what one extent holds.
type Use struct {
	Extent   format.LogExtent
	Used     int64  // bytes from its first frame to the end of the last that counts
	Frames   uint64 // that count, of all types
	Turns    uint64 // in them
	Promises uint64 // frames that are nothing but a promise
}

// Result is what the log holds.
type Result struct {
	Entries  []Entry    // frames of turns that count, in the order of their LSNs
	LastLSN  format.LSN // of the last frame that counts, damaged ones below a promise included
	Promised format.LSN // the highest promise seen
	NextID   uint64     // one more than the last id that counts or is lost; ScanOptions.NextID where there is none

	// The torn tail: from the first byte that is no frame to the last that is
	// not zero, summed over the extents. 0: there is none. Not determined for
	// PromisedOnly, where the writer is at work there.
	TornBytes, TornAt int64

	Damages []Damage // in the order of their ids
	End     Position // behind the last frame that counts
	Uses    []Use    // of each extent that was read, in order; Frames, Turns, Promises of this reading alone
	Resumed bool     // ScanOptions.From was used: frames before it are not in the result
}

// ScanOptions says what the superblock knows about its log.
type ScanOptions struct {
	FirstLSN format.LSN // Superblock.NextLSN: everything below it was put away
	NextID   uint64     // Superblock.NextID; 0: the first frame says it

	// PromisedOnly leaves out what no promise covers: what a reader may show
	// while a writer is at work.
	PromisedOnly bool

	// From goes on where an earlier Scan ended. It is ignored when the log no
	// longer has its extent: see Result.Resumed.
	From *Position

	// NoEdges does not look at headers and trailers. For salvage.
	NoEdges bool
}

// Scan reads the log extents of a superblock, in its order, as recovery and
// readers do (SPEC.md sections 12 and 13). It changes nothing.
//
// The error is a format.CorruptError when an extent is not the one that the
// superblock names: before the frames are read, because the file was copied
// while it was written, or afterwards too, because the extent was put to
// another use meanwhile; readers of a live file then look at the superblocks
// again. Any error of ReadAt is returned as it is, and io.ErrUnexpectedEOF
// where the file ends early: only bytes that were read can be torn. Damage
// inside the extents is no error but part of the result.
//
// Scan holds all extents in memory, and so do the results.
func Scan(r io.ReaderAt, uuid format.UUID, log []format.LogExtent, o ScanOptions) (*Result, error) {
	s, err := newScan(uuid, log, o)
	if err != nil {
		return nil, err
	}
	promised := s.promised
	for again := false; ; again = true {
		if err := s.read(r); err != nil {
			return nil, err
		}
		s.find()
		if again {
			// The bytes were read after the first reading saw this promise. A
			// higher one may cover frames that were written behind our back.
			s.promised = promised
		}
		promised = s.promised
		s.accept()
		if len(s.result.Damages) == 0 || !o.PromisedOnly || again {
			return s.finish(), nil
		}
		// A promise may have been read after the place where its frame was
		// written in between. Real damage is still there the second time.
		if s, err = newScan(uuid, log, o); err != nil {
			return nil, err
		}
	}
}

// scan is one reading of the log.
type scan struct {
	uuid   format.UUID
	o      ScanOptions
	spans  []span
	found  []candidate // in the order of their places
	result *Result

	// What the next frame that counts is.
	next     format.LSN
	nextID   uint64 // 0: not known yet
	promised format.LSN
	// invariant: everything before these is decided.
	in int // index of a span
	at int // offset in it
}

// span is the part of an extent that is read: from its first frame, or from a
// Position, to its trailer.
type span struct {
	x    format.LogExtent
	base int64 // absolute offset of b[0]
	b    []byte
}

// newScan finds out where to begin.
func newScan(uuid format.UUID, log []format.LogExtent, o ScanOptions) (*scan, error) {
	s := &scan{uuid: uuid, o: o, result: &Result{}, next: max(o.FirstLSN, 1), nextID: o.NextID}
	for i, x := range log {
		if err := checkPlace(x); err != nil {
			return nil, err
		}
		if o.From != nil && x.Cycle == o.From.Cycle {
			return s, s.resume(log[i:], *o.From)
		}
	}
	for i, x := range log {
		if i == 0 && x.FirstLSN != 0 {
			if o.FirstLSN != 0 && o.FirstLSN != x.FirstLSN {
				return nil, format.Corruptf("log extent", x.Offset, "its first LSN is %d where the superblock's next one is %d", x.FirstLSN, o.FirstLSN)
			}
			s.next = x.FirstLSN
		}
		s.spans = append(s.spans, span{x: x, base: framesAt(x)})
	}
	s.promised = s.next - 1
	return s, nil
}

// resume begins at a position in the first of these extents.
func (s *scan) resume(log []format.LogExtent, p Position) error {
	x := log[0]
	if p.At < framesAt(x) || p.At > edgeAt(x, true) || p.At%format.FrameAlign != 0 || p.LSN < 1 {
		return fmt.Errorf("position at offset %d, LSN %d is not in the log extent of %d bytes at %d", p.At, p.LSN, x.Length, x.Offset)
	}
	s.result.Resumed = true
	s.next, s.nextID, s.promised = p.LSN, p.NextID, max(p.Promised, p.LSN-1)
	s.spans = append(s.spans, span{x: x, base: p.At})
	for _, x := range log[1:] {
		if err := checkPlace(x); err != nil {
			return err
		}
		s.spans = append(s.spans, span{x: x, base: framesAt(x)})
	}
	return nil
}

// read fills the spans, between two looks at the extents' edges.
func (s *scan) read(r io.ReaderAt) error {
	if err := s.checkEdges(r); err != nil {
		return err
	}
	for i := range s.spans {
		p := &s.spans[i]
		p.b = make([]byte, edgeAt(p.x, true)-p.base)
		if err := disk.ReadFull(r, p.b, p.base); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
	}
	return s.checkEdges(r)
}

func (s *scan) checkEdges(r io.ReaderAt) error {
	if s.o.NoEdges {
		return nil
	}
	var b [format.LogEdge]byte
	for _, p := range s.spans {
		for _, trailer := range []bool{false, true} {
			if err := disk.ReadFull(r, b[:], edgeAt(p.x, trailer)); err != nil {
				return fmt.Errorf("read log: %w", err)
			}
			if err := format.CheckLogEdge(b[:], s.uuid, p.x, trailer); err != nil && !mutateEdge {
				return err
			}
		}
	}
	return nil
}
