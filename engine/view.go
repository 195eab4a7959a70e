package engine

import (
	"fmt"
	"sort"

	"ctxdb/format"
	"ctxdb/segment"
)

// view is what the file holds at one instant. It is immutable; readers load it
// once per operation.
type view struct {
	super   format.Superblock
	root    *format.Root
	leaves  [][]format.SegmentEntry // as the root has them; for rewriting the last
	segs    []*segment.Segment      // by first id
	runs    []*segment.Run          // by first id
	vectors []*vectorRun            // as the root has them
	logs    []run                   // of the log's extents, oldest first
	lost    []format.LostRange
	nextID  uint64             // every id below it was given
	clean   int                // segments from this index on are in no key run
	apart   []*segment.Segment // before it, with keys, and in no run all the same
}

// derive makes a copy to change before it is published.
func (v *view) derive() *view {
	c := *v
	return &c
}

// close closes the readers of all segments and runs.
func (v *view) close() {
	for _, s := range v.segs {
		s.Close()
	}
	for _, r := range v.runs {
		r.Close()
	}
	closeVectors(v.vectors, nil)
}

// segmentOf returns the segment that holds the id, or nil.
func (v *view) segmentOf(id uint64) *segment.Segment {
	i := sort.Search(len(v.segs), func(i int) bool { return v.segs[i].Entry().EndID() > id })
	if i < len(v.segs) && v.segs[i].Entry().FirstID <= id {
		return v.segs[i]
	}
	return nil
}

// loggedOf returns the logged turn of an id, or nil.
func (v *view) loggedOf(id uint64) *logged {
	for i := range v.logs {
		if r := &v.logs[i]; id >= r.first && id < r.end() {
			return &r.turns[id-r.first]
		}
	}
	return nil
}

// absent explains why no bytes of an id are here.
func (v *view) absent(id uint64) error {
	if id == 0 || id >= v.nextID {
		return fmt.Errorf("turn %d: %w: the file has turns 1 to %d", id, ErrNotFound, v.nextID-1)
	}
	_, err := v.lack(id)
	return fmt.Errorf("turn %d: %w", id, err)
}

// lack returns the end of the ids from id on that have no bytes for one reason, and the
// reason. Turns that were lost before this file was made lie nowhere.
//
// REQUIRES: no segment and no log holds it.
func (v *view) lack(id uint64) (end uint64, err error) {
	end = v.nextID
	for _, l := range v.lost {
		switch {
		case l.FirstID > id:
			end = min(end, l.FirstID)
		case id >= l.FirstID+l.Count:
		case l.Offset == 0:
			return l.FirstID + l.Count, format.Corruptf("turns", -1, "lost when the file was salvaged")
		default:
			return l.FirstID + l.Count, format.Corruptf("log frame", l.Offset, "turns %d to %d were damaged here before they were sealed; salvage keeps the bytes", l.FirstID, l.FirstID+l.Count-1)
		}
	}
	return end, format.Corruptf("catalog", v.super.RootOffset, "no segment holds turns at %d", id)
}

// get reads a turn, without its source.
func (v *view) get(id uint64) (format.Turn, error) {
	if l := v.loggedOf(id); l != nil {
		return l.turn()
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return format.Turn{}, v.absent(id)
	}
	return s.Turn(id)
}

// content appends the content of a turn to dst.
func (v *view) content(dst []byte, id uint64) ([]byte, error) {
	if l := v.loggedOf(id); l != nil {
		return append(dst, l.content()...), nil
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return dst, v.absent(id)
	}
	return s.AppendContent(dst, id)
}

// record reads a turn's meta part. Its Content is nil.
func (v *view) record(id uint64) (format.Record, error) {
	if l := v.loggedOf(id); l != nil {
		r, _, err := format.DecodeMeta(l.record, l.at)
		return r, err
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return format.Record{}, v.absent(id)
	}
	return s.Record(id)
}

// source reads the record that a turn came in.
func (v *view) source(id uint64) ([]byte, error) {
	if l := v.loggedOf(id); l != nil {
		if l.source == nil {
			return nil, nil
		}
		return append([]byte{}, l.source...), nil
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return nil, v.absent(id)
	}
	b, ok, err := s.AppendSource(nil, id)
	if err != nil || !ok {
		return nil, err
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}
