package format

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Turn is one message as the file stores it. Its TurnID is its place: the frame
// or segment that holds it says which.
type Turn struct {
	Decision  bool
	Role      string
	Thread    string
	Tokens    uint64
	Time      time.Time // the zero time: none
	ReplyTo   uint64    // 0: none
	Key       string    // "": none
	Summary   string
	Entities  []string
	Tags      []string
	Embedding []float32
	Model     string // that made Embedding; "": not said
	Content   []byte
	Source    []byte // nil: none. Not part of a record; it is stored apart
}

// Record is a decoded meta part: a turn without its content and source, and
// what it says about them.
type Record struct {
	Turn
	Sum        uint64 // of meta and content
	ContentLen int
	HasSource  bool
	SourceLen  int
	SourceSum  uint64

	rest []byte // the meta bytes behind Sum
}

const (
	flagDecision = 1 << iota
	flagTime
	flagSource
	flagReplyTo
	flagKey
	flagSummary
	flagEntities
	flagTags
	flagEmbedding
	flagModel
	flagsEnd

	maxZone = 24 * 60 * 60 // seconds east of UTC, exclusive
)

// Validate holds a turn against the limits.
func (t *Turn) Validate() error {
	labels := func(list []string) (n int64) {
		for _, s := range list {
			n += int64(len(s)) + 4
		}
		return n
	}
	for _, l := range []struct {
		what       string
		got, limit int64
	}{
		{"content in bytes", int64(len(t.Content)), MaxContent},
		{"source in bytes", int64(len(t.Source)), MaxSource},
		{"key in bytes", int64(len(t.Key)), MaxKey},
		{"role in bytes", int64(len(t.Role)), MaxName},
		{"thread in bytes", int64(len(t.Thread)), MaxName},
		{"summary in bytes", int64(len(t.Summary)), MaxSummary},
		{"entities in bytes (4 added for each)", labels(t.Entities), MaxLabels},
		{"tags in bytes (4 added for each)", labels(t.Tags), MaxLabels},
		{"embedding model in bytes", int64(len(t.Model)), MaxName},
		{"embedding in floats", int64(len(t.Embedding)), MaxEmbedding},
		{"tokens", int64(min(t.Tokens, math.MaxInt64)), MaxTokens},
		{"the id that is replied to", int64(min(t.ReplyTo, math.MaxInt64)), MaxTurns},
	} {
		if l.got > l.limit {
			return tooLarge(l.what, l.got, l.limit)
		}
	}
	return nil
}

// AppendMeta appends the meta part of a turn to dst.
//
// REQUIRES: t.Validate() == nil.
func AppendMeta(dst []byte, t *Turn) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	dst = binary.AppendUvarint(dst, t.flags())
	dst = binary.AppendUvarint(dst, uint64(len(t.Content)))
	dst = binary.AppendUvarint(dst, t.Tokens)
	dst = appendString(dst, t.Role)
	dst = appendString(dst, t.Thread)
	if !t.Time.IsZero() {
		dst = appendTime(dst, t.Time)
	}
	if t.Source != nil {
		dst = binary.AppendUvarint(dst, uint64(len(t.Source)))
		dst = binary.LittleEndian.AppendUint64(dst, Hash(t.Source))
	}
	if t.ReplyTo != 0 {
		dst = binary.AppendUvarint(dst, t.ReplyTo)
	}
	if t.Key != "" {
		dst = appendString(dst, t.Key)
	}
	if t.Summary != "" {
		dst = appendString(dst, t.Summary)
	}
	if len(t.Entities) > 0 {
		dst = appendStrings(dst, t.Entities)
	}
	if len(t.Tags) > 0 {
		dst = appendStrings(dst, t.Tags)
	}
	if len(t.Embedding) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(t.Embedding)))
		for _, f := range t.Embedding {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
		}
	}
	if t.hasModel() {
		dst = appendString(dst, t.Model)
	}
	binary.LittleEndian.PutUint64(dst[start:], recordSum(dst[start+8:], t.Content))
	return dst
}

func (t *Turn) flags() (flags uint64) {
	for _, f := range []struct {
		set bool
		bit uint64
	}{
		{t.Decision, flagDecision}, {!t.Time.IsZero(), flagTime}, {t.Source != nil, flagSource},
		{t.ReplyTo != 0, flagReplyTo}, {t.Key != "", flagKey}, {t.Summary != "", flagSummary},
		{len(t.Entities) > 0, flagEntities}, {len(t.Tags) > 0, flagTags}, {len(t.Embedding) > 0, flagEmbedding},
		{t.hasModel(), flagModel},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	return flags
}

// hasModel: without an embedding nothing was made by a model.
func (t *Turn) hasModel() bool { return t.Model != "" && len(t.Embedding) > 0 }

// recordSum is the hash of meta and content as one run of bytes.
func recordSum(meta, content []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	d.Write(meta)
	d.Write(content)
	return d.Sum64()
}

// Intact reports whether content is the one that the record was made with, and
// the meta part is as it was written.
func (r *Record) Intact(content []byte) bool {
	return len(content) == r.ContentLen && recordSum(r.rest, content) == r.Sum
}

// DecodeMeta reads the meta part that b begins with and returns its length.
// at is the absolute offset for errors. The strings are copies; the record
// keeps b for Intact.
func DecodeMeta(b []byte, at int64) (r Record, n int, err error) {
	if len(b) < 8 {
		return Record{}, 0, Corruptf("turn record", at, "%d bytes", len(b))
	}
	d := decoder{b: b, p: 8}
	r.Sum = binary.LittleEndian.Uint64(b)
	flags := d.bounded(flagsEnd - 1)
	r.Decision = flags&flagDecision != 0
	r.ContentLen = int(d.bounded(MaxContent))
	r.Tokens = d.bounded(MaxTokens)
	r.Role = d.string(MaxName)
	r.Thread = d.string(MaxName)
	if flags&flagTime != 0 {
		r.Time = d.time()
	}
	if flags&flagSource != 0 {
		r.HasSource = true
		r.SourceLen = int(d.bounded(MaxSource))
		r.SourceSum = d.uint64()
	}
	if flags&flagReplyTo != 0 {
		r.ReplyTo = d.within(1, MaxTurns)
	}
	if flags&flagKey != 0 {
		r.Key = d.present(MaxKey)
	}
	if flags&flagSummary != 0 {
		r.Summary = d.present(MaxSummary)
	}
	if flags&flagEntities != 0 {
		r.Entities = d.strings()
	}
	if flags&flagTags != 0 {
		r.Tags = d.strings()
	}
	if flags&flagEmbedding != 0 {
		r.Embedding = d.floats()
	}
	if flags&flagModel != 0 {
		r.Model = d.present(MaxName)
		d.bad = d.bad || flags&flagEmbedding == 0
	}
	if d.bad {
		return Record{}, 0, Corruptf("turn record", at+int64(d.p), "a field breaks the rules")
	}
	r.rest = b[8:d.p]
	return r, d.p, nil
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

func appendTime(dst []byte, t time.Time) []byte {
	_, zone := t.Zone()
	if zone <= -maxZone || zone >= maxZone {
		zone = 0 // no place on earth; the instant is kept
	}
	dst = binary.AppendVarint(dst, t.Unix())
	dst = binary.AppendUvarint(dst, uint64(t.Nanosecond()))
	return binary.AppendVarint(dst, int64(zone))
}
