package format

import (
	"encoding/binary"
	"math"
	"time"
)

// recordOf makes a record without content, role and thread: the flags, and
// behind the five fixed fields the bytes of the rest.
func recordOf(flags uint64, rest ...byte) func(*vector) {
	return func(v *vector) {
		b := binary.AppendUvarint(make([]byte, 8), flags)
		v.Body = append(append(b, 0, 0, 0, 0), rest...)
	}
}

// recordBytes makes a record of the bytes behind its sum.
func recordBytes(rest ...byte) func(*vector) {
	return func(v *vector) { v.Body = append(make([]byte, 8), rest...) }
}

func recordTurn(t Turn) func(*vector) {
	return func(v *vector) { v.Body = append(AppendMeta(nil, &t), t.Content...) }
}

func uv(x uint64) []byte { return binary.AppendUvarint(nil, x) }

// atTime is a time field, nanosecond and zone taken as they are.
func atTime(sec int64, nsec uint64, zone int64) []byte {
	return binary.AppendVarint(binary.AppendUvarint(binary.AppendVarint(nil, sec), nsec), zone)
}

func recordFaults() []fault {
	const rest = 13 // offset of what recordOf is given, for flags below 128
	yearOne := time.Time{}.Unix()
	return []fault{
		{name: "empty-turn", comment: "a turn of nothing", expect: "ok", raw: true, change: recordTurn(Turn{})},
		{name: "empty-source", comment: "a source of no bytes is not no source", expect: "ok", raw: true, change: recordTurn(Turn{Source: []byte{}})},
		{name: "old-time", comment: "before 1970, with nanoseconds", expect: "ok", raw: true, change: recordTurn(Turn{Time: time.Date(1815, 12, 10, 1, 2, 3, 4, time.UTC)})},
		{name: "far-time", comment: "the last second that 64 bits know", expect: "ok", change: recordOf(flagTime, atTime(math.MaxInt64, 999_999_999, 86399)...)},
		{name: "nan", comment: "an embedding of NaN and infinity", expect: "ok", raw: true, change: recordTurn(Turn{Embedding: []float32{math.Float32frombits(0x7FA00001), float32(math.Inf(-1))}})},
		{name: "sum-meta", comment: "a bit of the meta part flipped", raw: true, change: flip(17)},
		{name: "sum-content", comment: "a bit of the content flipped", raw: true, change: func(v *vector) { flip(len(v.Body) - 1)(v) }},
		{name: "content-short", comment: "a byte of content is missing", change: func(v *vector) { cut(len(v.Body) - 1)(v) }},
		{name: "short", comment: "not even a sum", raw: true, change: cut(7)},
		{name: "flags", comment: "an unknown flag", shift: 8, change: recordOf(1024)},
		{name: "flags-padded", comment: "flags in more bytes than needed", shift: 8, change: recordBytes(0x80, 0, 0, 0, 0, 0)},
		{name: "flags-eleven", comment: "a uvarint of eleven bytes", shift: 8, change: recordBytes(128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1)},
		{name: "content-limit", comment: "content beyond the limit", shift: 9, change: recordBytes(append([]byte{0}, uv(MaxContent+1)...)...)},
		{name: "tokens-limit", comment: "tokens beyond the limit", shift: 10, change: recordBytes(append([]byte{0, 0}, uv(MaxTokens+1)...)...)},
		{name: "role-limit", comment: "role beyond the limit", shift: 11, change: recordBytes(append([]byte{0, 0, 0}, uv(MaxName+1)...)...)},
		{name: "role-cut", comment: "role ends behind the record", shift: 12, change: recordBytes(0, 0, 0, 3, 'a', 'b')},
		{name: "thread-limit", comment: "thread beyond the limit", shift: 12, change: recordBytes(append([]byte{0, 0, 0, 0}, uv(MaxName+1)...)...)},
		{name: "nanoseconds", comment: "a second of nanoseconds", shift: rest + 1, change: recordOf(flagTime, atTime(1, 1e9, 0)...)},
		{name: "zone-east", comment: "a day east of UTC", shift: rest + 2, change: recordOf(flagTime, atTime(1, 1, 86400)...)},
		{name: "zone-west", comment: "a day west of UTC", shift: rest + 2, change: recordOf(flagTime, atTime(1, 1, -86400)...)},
		{name: "time-zero", comment: "year 1 means no time, and has no flag", shift: rest, change: recordOf(flagTime, atTime(yearOne, 0, 0)...)},
		{name: "model-alone", comment: "a model without an embedding", shift: 16, change: recordOf(512, 1, 'm')},
		{name: "source-limit", comment: "source beyond the limit", shift: rest, change: recordOf(flagSource, uv(MaxSource+1)...)},
		{name: "source-cut", comment: "no hash of the source", shift: rest + 1, change: recordOf(flagSource, 1, 2, 3)},
		{name: "reply-zero", comment: "a reply to nothing", shift: rest, change: recordOf(flagReplyTo, 0)},
		{name: "reply-limit", comment: "a reply to an impossible id", shift: rest, change: recordOf(flagReplyTo, uv(MaxTurns+1)...)},
		{name: "key-empty", comment: "a key of no bytes", shift: rest, change: recordOf(flagKey, 0)},
		{name: "key-limit", comment: "key beyond the limit", shift: rest, change: recordOf(flagKey, uv(MaxKey+1)...)},
		{name: "summary-empty", comment: "a summary of no bytes", shift: rest, change: recordOf(flagSummary, 0)},
		{name: "summary-limit", comment: "summary beyond the limit", shift: rest, change: recordOf(flagSummary, uv(MaxSummary+1)...)},
		{name: "entities-empty", comment: "a list of no entities", shift: rest, change: recordOf(flagEntities, 0)},
		{name: "entities-bomb", comment: "more entities than bytes", shift: rest, change: recordOf(flagEntities, uv(1<<40)...)},
		{name: "entities-limit", comment: "an entity beyond the limit", shift: rest + 1, change: recordOf(flagEntities, append([]byte{1}, uv(MaxLabels+1)...)...)},
		{name: "tags-empty", comment: "a list of no tags", shift: rest + 1, change: recordOf(flagTags, 0)},
		{name: "embedding-empty", comment: "an embedding of no floats", shift: rest + 1, change: recordOf(flagEmbedding, 0)},
		{name: "embedding-limit", comment: "embedding beyond the limit", shift: rest + 1, change: recordOf(flagEmbedding, uv(MaxEmbedding+1)...)},
		{name: "embedding-cut", comment: "half a float is missing", shift: rest + 2, change: recordOf(flagEmbedding, 1, 0, 0)},
	}
}

func body(b ...byte) func(*vector) { return func(v *vector) { v.Body = b } }

func cat(list ...[]byte) (b []byte) {
	for _, s := range list {
		b = append(b, s...)
	}
	return b
}

func pieceFaults() []fault {
	list := []fault{
		{name: "empty", comment: "no pieces: no plaintext", expect: "ok", change: body()},
		{name: "meta-cut", comment: "meta ends behind the plaintext", change: body(0, 0, 3, 0, 1, 2)},
		{name: "data-cut", comment: "data ends behind the plaintext", change: body(0, 0, 0, 3, 1, 2)},
		{name: "header-cut", comment: "no data length", change: body(0, 0, 0)},
		{name: "padded", comment: "a uvarint in more bytes than needed", change: body(0x80, 0, 0, 0, 0)},
		{name: "turn-overflow", comment: "a turn beyond 32 bits", change: body(cat(uv(math.MaxUint32-499), []byte{0, 0, 0})...)},
		{name: "turn-last", comment: "the last turn that 32 bits know", expect: "ok", change: body(cat(uv(math.MaxUint32-500), []byte{0, 0, 0})...)},
		{name: "part-overflow", comment: "a part beyond 32 bits", change: body(cat([]byte{0}, uv(1<<32), []byte{0, 0})...)},
		{name: "meta-bomb", comment: "2^40 bytes of meta", change: body(cat([]byte{0, 0}, uv(1<<40), []byte{0})...)},
		{name: "data-bomb", comment: "2^63 bytes of data", change: body(cat([]byte{0, 0, 0}, uv(1<<63))...)},
		{name: "meta-later-part", comment: "meta with part 1", change: body(0, 1, 1, 0, 'm')},
	}
	for i := range list {
		if list[i].expect == "" {
			list[i].expect = "none"
		}
	}
	return list
}

func sourceFaults() []fault {
	n := uint64(len(fixTurn().Source))
	reference := uint64(len(sourceReference(fixTurn().Content)))
	all := func(instructions ...byte) func(*vector) { return body(cat(uv(n), instructions)...) }
	return []fault{
		{name: "literal", comment: "all of it in one literal", expect: "ok", change: all(cat(uv(2*n), fixTurn().Source)...)},
		{name: "empty", comment: "a source of no bytes", expect: "ok", change: func(v *vector) { v.Body, v.Args["length"], v.Args["hash"] = []byte{0}, 0, Hash(nil) }},
		{name: "length", comment: "another length than in the record", change: func(v *vector) { v.Args["length"]++ }},
		{name: "hash", comment: "another hash than in the record", change: func(v *vector) { v.Args["hash"]++ }},
		{name: "nothing", comment: "no bytes at all", change: body()},
		{name: "cut", comment: "the last byte is missing", change: func(v *vector) { cut(len(v.Body) - 1)(v) }},
		{name: "few", comment: "no instructions", change: all()},
		{name: "many", comment: "an instruction more than the source is long", change: func(v *vector) { v.Body = append(v.Body, 2, 'x') }},
		{name: "literal-cut", comment: "a literal ends behind the encoding", change: all(uv(2 * n)...)},
		{name: "literal-bomb", comment: "a literal of 2^62 bytes", change: all(uv(1 << 63)...)},
		{name: "copy-behind", comment: "a copy from behind the reference", change: all(cat(uv(1<<1|1), uv(reference+1))...)},
		{name: "copy-over-end", comment: "a copy that begins in the reference and ends behind it", change: all(cat(uv(9<<1|1), uv(reference-8))...)},
		{name: "copy-bomb", comment: "a copy of 2^63-1 bytes", change: all(cat(uv(math.MaxUint64), uv(1))...)},
		{name: "copy-cut", comment: "a copy without its offset", change: all(uv(9<<1 | 1)...)},
		{name: "padded", comment: "a uvarint in more bytes than needed", change: all(0x82, 0, 'x')},
	}
}
