package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"ctxdb/format"
	"ctxdb/segment"
)

// Stats is what a file holds and how it stands.
type Stats struct {
	Path         string
	UUID         string
	Created      time.Time
	Epoch        uint64
	State        string // closed, open
	Turns        uint64 // readable or damaged, meta included
	LostTurns    uint64
	NextID       TurnID
	SealedTurns  uint64
	LoggedTurns  uint64
	ContentBytes int64 // of sealed and logged turns
	SourceBytes  int64
	Tokens       int64 // of sealed turns and of logged ones
	FileBytes    int64
	FreeBytes    int64 // inside the file, used again by later appends
	Segments     []SegmentStats
	KeyRuns      int
	Log          []LogStats
	Broken       error // nil: writable, or read-only and well
	ReadOnly     bool
}

// SegmentStats is one segment.
type SegmentStats struct {
	Number       uint64
	Offset       int64
	Length       int64
	FirstID      TurnID
	Turns        uint64
	ContentBytes int64
	SourceBytes  int64
	Tokens       int64
	Keys         int
}

// LogStats is one log extent.
type LogStats struct {
	Offset  int64
	Length  int64
	Cycle   uint64
	FirstID TurnID // of its turns; 0: none
	Turns   uint64
	Bytes   int64 // of their frames
}

// Stats describes the file as this DB sees it now.
func (db *DB) Stats() Stats {
	v := db.view.Load()
	s := Stats{
		Path: db.path, UUID: v.super.UUID.String(), Created: time.Unix(0, v.super.Created), Epoch: v.super.Epoch,
		State: v.super.State.String(), Turns: v.nextID - 1, NextID: TurnID(v.nextID), KeyRuns: len(v.runs), ReadOnly: db.writer == nil,
	}
	for _, l := range v.lost {
		s.LostTurns += l.Count
	}
	for _, x := range v.segs {
		s.addSegment(x.Entry())
	}
	for _, x := range v.super.Log {
		s.addExtent(v, x)
	}
	if size, err := db.file.Size(); err == nil {
		s.FileBytes = size
	}
	s.FreeBytes = s.FileBytes - format.FirstExtent
	for _, u := range v.used() {
		s.FreeBytes -= u.len
	}
	s.FreeBytes = max(s.FreeBytes, 0)
	if db.writer != nil {
		if err := db.broken.Load(); err != nil {
			s.Broken = *err
		}
	}
	return s
}

func (s *Stats) addSegment(e format.SegmentEntry) {
	s.Segments = append(s.Segments, SegmentStats{
		Number: e.Number, Offset: e.Offset, Length: e.Length, FirstID: TurnID(e.FirstID), Turns: e.Turns,
		ContentBytes: int64(e.ContentBytes), SourceBytes: int64(e.SourceBytes), Tokens: int64(e.Tokens), Keys: int(e.Keys),
	})
	s.SealedTurns += e.Turns
	s.ContentBytes += int64(e.ContentBytes)
	s.SourceBytes += int64(e.SourceBytes)
	s.Tokens += int64(e.Tokens)
}

func (s *Stats) addExtent(v *view, x format.LogExtent) {
	l := LogStats{Offset: x.Offset, Length: x.Length, Cycle: x.Cycle}
	for i := range v.logs {
		r := &v.logs[i]
		if r.extent.Offset != x.Offset || r.extent.Cycle != x.Cycle {
			continue
		}
		if l.FirstID == 0 {
			l.FirstID = TurnID(r.first)
		}
		l.Turns += uint64(len(r.turns))
		l.Bytes += r.bytes
		for j := range r.turns {
			t := &r.turns[j]
			s.ContentBytes += int64(len(t.content()))
			s.SourceBytes += int64(len(t.source))
			if rec, _, err := format.DecodeMeta(t.record, t.at); err == nil {
				s.Tokens += int64(rec.Tokens)
			}
		}
	}
	s.LoggedTurns += l.Turns
	s.Log = append(s.Log, l)
}

// Finding is one thing that Verify found wrong.
type Finding struct {
	Region  string // what lies there
	Offset  int64  // absolute, in bytes
	FirstID TurnID // of the turns it concerns; 0: none
	Count   uint64
	Err     error // an ErrCorrupt or ErrTruncated
}

// Verify reads everything that the file's state names and yields what is
// wrong. It changes nothing. The error, if any, comes last: one of reading or
// of ctx.
func (db *DB) Verify(ctx context.Context) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		if db.closed.Load() {
			yield(Finding{}, fmt.Errorf("verify: %w", ErrClosed))
			return
		}
		if db.writer == nil {
			if _, err := db.refresh(db.view.Load()); err != nil {
				yield(Finding{}, fmt.Errorf("verify: %w", err))
				return
			}
		}
		c := checker{db: db, ctx: ctx, yield: yield, v: db.view.Load()}
		c.superblocks()
		c.segments()
		c.keyRuns()
		c.ids()
		if ctx.Err() != nil && !c.over {
			yield(Finding{}, fmt.Errorf("verify: %w", context.Cause(ctx)))
		}
	}
}

// checker walks a view.
type checker struct {
	db    *DB
	ctx   context.Context
	yield func(Finding, error) bool
	v     *view
	over  bool
}

func (c *checker) report(f Finding) bool {
	if !c.over && !c.yield(f, nil) {
		c.over = true
	}
	return !c.over
}

func (c *checker) stopped() bool { return c.over || c.ctx.Err() != nil }

// superblocks: one of two may be damaged without harm, and is worth a word.
func (c *checker) superblocks() {
	b, err := c.db.read(0, 2*format.SuperblockSize)
	if err != nil {
		c.report(Finding{Region: "superblock", Err: err})
		return
	}
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		if _, err := format.DecodeSuperblock(b[slot:slot+format.SuperblockSize], slot); err != nil {
			c.report(Finding{Region: "superblock", Offset: slot, Err: withPath(c.db.path, err)})
		}
	}
}

func (c *checker) segments() {
	for _, s := range c.v.segs {
		if c.stopped() {
			return
		}
		c.segment(s)
	}
}

// segment verifies one; what a newer view does without is no finding.
func (c *checker) segment(s *segment.Segment) {
	var found []segment.Finding
	err := s.Verify(c.ctx, func(f segment.Finding) bool {
		found = append(found, f)
		return len(found) < 1000
	})
	if len(found) > 0 && c.db.overtaken(c.v, s.Entry()) {
		return
	}
	for _, f := range found {
		if !c.report(Finding{Region: f.Region, Offset: f.Offset, FirstID: TurnID(f.FirstID), Count: f.Count, Err: withPath(c.db.path, f.Err)}) {
			return
		}
	}
	_ = err // of the context: said once, at the end
}

// overtaken reports whether a newer view has no such segment.
func (db *DB) overtaken(v *view, e format.SegmentEntry) bool {
	if db.writer == nil {
		if _, err := db.refresh(v); err != nil {
			return false
		}
	}
	for _, s := range db.view.Load().segs {
		if s.Entry() == e {
			return false
		}
	}
	return true
}

func (c *checker) keyRuns() {
	for _, r := range c.v.runs {
		if c.stopped() {
			return
		}
		_ = r.Verify(c.ctx, func(f segment.Finding) bool {
			if isRetired(f.Err) {
				return false
			}
			return c.report(Finding{Region: f.Region, Offset: f.Offset, FirstID: TurnID(f.FirstID), Count: f.Count, Err: withPath(c.db.path, f.Err)})
		})
	}
}

// ids: every id that was given is in a segment, in the log, or known as lost.
func (c *checker) ids() {
	type ids struct{ from, to uint64 }
	var have []ids
	for _, s := range c.v.segs {
		have = append(have, ids{s.Entry().FirstID, s.Entry().EndID()})
	}
	for i := range c.v.logs {
		have = append(have, ids{c.v.logs[i].first, c.v.logs[i].end()})
	}
	slices.SortFunc(have, func(a, b ids) int { return cmp.Compare(a.from, b.from) })
	next := uint64(1)
	for _, h := range append(have, ids{c.v.nextID, c.v.nextID}) {
		if h.from > next && !c.stopped() {
			c.report(Finding{Region: "turns", FirstID: TurnID(next), Count: h.from - next, Err: c.v.absent(next)})
		}
		next = max(next, h.to)
	}
}

// Location is where bytes of a turn lie in the file.
type Location struct {
	Region  string // "log frame", "content block", "source block"
	Offset  int64
	Stored  int64 // bytes in the file, other turns' in the same block included
	Raw     int64 // bytes of plaintext
	Codec   string
	Segment uint64 // number; 0: the log
}

// Where says where the bytes of a turn are. Errors are those of Get.
func (db *DB) Where(id TurnID) ([]Location, error) {
	var all []Location
	err := db.do(func(v *view) error {
		all = nil
		if l := v.loggedOf(uint64(id)); l != nil {
			n := int64(len(l.record) + len(l.source))
			all = []Location{{Region: "log frame", Offset: l.at, Stored: n, Raw: n, Codec: "none"}}
			return nil
		}
		s := v.segmentOf(uint64(id))
		if s == nil || uint64(id) >= v.nextID {
			return v.absent(uint64(id))
		}
		list, err := s.Where(uint64(id))
		for _, l := range list {
			all = append(all, Location{
				Region: streamName(l.Stream), Offset: l.Offset, Stored: int64(l.Stored), Raw: int64(l.Raw),
				Codec: codecName(l.Codec), Segment: s.Entry().Number,
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	return all, nil
}

func streamName(s format.Stream) string {
	if s == format.StreamSource {
		return "source block"
	}
	return "content block"
}

func codecName(c format.Codec) string {
	return map[format.Codec]string{format.CodecRaw: "none", format.CodecZstd: "zstd", format.CodecZstdDict: "zstd with dictionary"}[c]
}
