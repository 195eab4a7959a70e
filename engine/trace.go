package engine

import (
	"fmt"
	"iter"
	"sync"
)

// TraceKind is what happened in a window.
type TraceKind uint8

// The kinds of a TraceEvent. A reference that is followed by faults of the same
// window faulted; another one was a hit.
const (
	TraceRef     TraceKind = iota + 1 // a turn (Part -1) or a page was referenced
	TraceFault                        // a page was brought in
	TraceEvict                        // a page left for want of room
	TracePin                          // a turn was pinned
	TraceUnpin                        // it was unpinned
	TraceRelease                      // a page was released
	traceKindEnd
)

func (k TraceKind) String() string {
	if k == 0 || k >= traceKindEnd {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{"ref", "fault", "evict", "pin", "unpin", "release"}[k-1]
}

// TraceEvent is one event of a window.
type TraceEvent struct {
	Seq    uint64 // grows without gaps in the order of recording; those of one window in the order of happening
	Window string
	Kind   TraceKind
	ID     TurnID
	Part   int // of the turn as this window cuts it, from 0; -1: the whole turn
	Tokens int
	Bytes  int64
}

// traceRecord is an event before it has a number.
type traceRecord struct {
	kind          TraceKind
	id            TurnID
	part          int32
	tokens, bytes int64
}

// traceBatch is how many events a window gathers before it hands them over.
const traceBatch = 256

// defaultTraceBytes bounds the trace of a file, encoded: some 100,000 events.
const defaultTraceBytes = 1 << 20

// traceLog is the trace of a file: the latest batches of all windows.
//
// invariant: size is the sum of the lengths of chunks, and at most limit but
// for the latest one.
// invariant: chunks are numbered without gaps: each begins where the one before
// ended, the last ends at next.
type traceLog struct {
	mu      sync.Mutex
	limit   int64
	chunks  []traceChunk
	size    int64
	next    uint64 // number of the next event
	dropped uint64 // events that are no longer here
	spare   []byte // memory of a dropped chunk
}

// traceChunk is a batch of events of one window.
type traceChunk struct {
	window string
	first  uint64
	count  int
	b      []byte
}

func newTraceLog(limit int64) *traceLog {
	if limit < 0 {
		return nil
	}
	setDefault(&limit, defaultTraceBytes)
	return &traceLog{limit: limit, next: 1}
}

// record notes an event. REQUIRES: mu.
func (w *Window) record(r traceRecord) {
	if w.trace == nil {
		return
	}
	w.events = append(w.events, r)
	if len(w.events) == traceBatch {
		w.flushTrace()
	}
}

// flushTrace hands over what was gathered. REQUIRES: mu.
func (w *Window) flushTrace() {
	if w.trace != nil && len(w.events) > 0 {
		w.trace.add(w.name, w.events)
		w.events = w.events[:0]
	}
}

func (t *traceLog) add(window string, events []traceRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := traceChunk{window: window, first: t.next, count: len(events), b: encodeEvents(t.spare[:0], events)}
	t.spare = nil
	t.next += uint64(len(events))
	t.chunks = append(t.chunks, c)
	t.size += int64(len(c.b))
	t.shrink(t.limit)
}

// shrink drops the oldest chunks until the others take at most limit bytes.
func (t *traceLog) shrink(limit int64) {
	n := 0
	for ; t.size > limit && n < len(t.chunks)-1; n++ {
		t.size -= int64(len(t.chunks[n].b))
		t.dropped += uint64(t.chunks[n].count)
		t.spare = t.chunks[n].b
		t.chunks[n] = traceChunk{}
	}
	t.chunks = t.chunks[n:]
}

// TraceStats says how much of the trace is there.
type TraceStats struct {
	Events  uint64 // recorded and still there
	Dropped uint64 // recorded and dropped for want of room
	Bytes   int64  // of the encoded events
	Limit   int64  // of Bytes; 0: the trace is off
}

// TraceStats says how much of the trace is there.
func (db *DB) TraceStats() TraceStats {
	t := db.aside.collect(db)
	if t == nil {
		return TraceStats{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := TraceStats{Dropped: t.dropped, Bytes: t.size, Limit: t.limit}
	for _, c := range t.chunks {
		s.Events += uint64(c.count)
	}
	return s
}

// Trace goes through what the windows of the file were asked for and what left
// them, oldest first, as far as it is remembered: the trace of earlier lives
// that was written with the windows (see DB.Window), then that of this one.
// What no longer fits into Options.TraceBytes was dropped, oldest first.
func (db *DB) Trace() iter.Seq2[TraceEvent, error] {
	return func(yield func(TraceEvent, error) bool) {
		t := db.aside.collect(db)
		if t == nil {
			return
		}
		t.mu.Lock()
		chunks := make([]traceChunk, len(t.chunks))
		for i, c := range t.chunks {
			c.b = append([]byte{}, c.b...) // a dropped chunk's memory is used again
			chunks[i] = c
		}
		t.mu.Unlock()
		for _, c := range chunks {
			events, err := decodeEvents(c.b, c.count)
			if err != nil {
				if !yield(TraceEvent{Seq: c.first, Window: c.window}, fmt.Errorf("trace: events %d to %d: %w", c.first, c.first+uint64(c.count)-1, err)) {
					return
				}
				continue
			}
			for i, e := range events {
				ev := TraceEvent{
					Seq: c.first + uint64(i), Window: c.window, Kind: e.kind, ID: e.id, Part: int(e.part), Tokens: int(e.tokens), Bytes: e.bytes,
				}
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}
