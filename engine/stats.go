package engine

import (
	"time"

	"ctxdb/format"
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
