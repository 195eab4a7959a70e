package engine

import (
	"encoding/binary"

	"ctxdb/format"
)

// The encoded form of a trace, as it lies in the aside (SPEC.md, section 5),
// in uvarints and strings of section 2:
//
//	version (1), number of the next event, events dropped, chunks, then each
//	chunk: window, number of its first event, events, length, that many bytes
//
// An event is its kind, the TurnID less that of the event before as a varint,
// the part plus 1, tokens, bytes.
const traceVersion = 1

func encodeEvents(b []byte, events []traceRecord) []byte {
	last := TurnID(0)
	for _, e := range events {
		b = append(b, byte(e.kind))
		b = binary.AppendVarint(b, int64(e.id)-int64(last))
		b = binary.AppendUvarint(b, uint64(e.part+1))
		b = binary.AppendUvarint(b, uint64(e.tokens))
		b = binary.AppendUvarint(b, uint64(e.bytes))
		last = e.id
	}
	return b
}

// minEvent is the length of the shortest event.
const minEvent = 5

func decodeEvents(b []byte, count int) ([]traceRecord, error) {
	d := asideDecoder{b: b}
	if count < 0 || count > len(b)/minEvent {
		return nil, errAside
	}
	events := make([]traceRecord, 0, count)
	last := int64(0)
	for range count {
		e := traceRecord{kind: TraceKind(d.within(1, uint64(traceKindEnd)-1))}
		last += d.varint()
		if last < 0 || last > format.MaxTurns {
			return nil, errAside
		}
		e.id = TurnID(last)
		e.part = int32(d.within(0, 1<<partBits)) - 1
		e.tokens = int64(d.within(0, format.MaxTokens))
		e.bytes = int64(d.within(0, format.MaxContent))
		events = append(events, e)
	}
	return events, d.end()
}

// encode appends the trace, without its oldest chunks if it is longer than
// limit. REQUIRES: t.mu.
func (t *traceLog) encode(b []byte, limit int64) []byte {
	skip, size, dropped := 0, t.size, t.dropped
	for ; skip < len(t.chunks) && size+int64(len(t.chunks)-skip)*maxChunkHead > limit; skip++ {
		size -= int64(len(t.chunks[skip].b))
		dropped += uint64(t.chunks[skip].count)
	}
	b = binary.AppendUvarint(b, traceVersion)
	b = binary.AppendUvarint(b, t.next)
	b = binary.AppendUvarint(b, dropped)
	b = binary.AppendUvarint(b, uint64(len(t.chunks)-skip))
	for _, c := range t.chunks[skip:] {
		b = appendAsideString(b, c.window)
		b = binary.AppendUvarint(b, c.first)
		b = binary.AppendUvarint(b, uint64(c.count))
		b = binary.AppendUvarint(b, uint64(len(c.b)))
		b = append(b, c.b...)
	}
	return b
}

// maxChunkHead bounds what a chunk takes beside its events.
const maxChunkHead = maxWindowName + 40

// decodeTrace reads a trace. Its chunks alias b.
func decodeTrace(b []byte) (*traceLog, error) {
	d := asideDecoder{b: b}
	d.within(traceVersion, traceVersion)
	t := &traceLog{next: d.within(1, 1<<62), dropped: d.within(0, 1<<62)}
	for n := d.count(4); n > 0 && d.err == nil; n-- {
		c := traceChunk{window: d.string(maxWindowName), first: d.within(1, 1<<62), count: int(d.within(0, 1<<32))}
		c.b = d.bytes(d.uvarint())
		if len(t.chunks) > 0 {
			if before := t.chunks[len(t.chunks)-1]; c.first != before.first+uint64(before.count) {
				return nil, errAside
			}
		}
		if c.count == 0 || c.count > len(c.b)/minEvent {
			d.fail()
			break
		}
		t.chunks = append(t.chunks, c)
		t.size += int64(len(c.b))
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	if n := len(t.chunks); n > 0 && t.chunks[n-1].first+uint64(t.chunks[n-1].count) != t.next {
		return nil, errAside
	}
	return t, nil
}
