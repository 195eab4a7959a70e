package format

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"ctxdb/fuzz/trial"

	"pgregory.net/rapid"
)

// someTurn draws a valid turn. Strings are any bytes: nothing says UTF-8.
func someTurn(t *rapid.T) *Turn {
	text := func(name string, limit int) string {
		return string(rapid.SliceOfN(rapid.Byte(), 0, limit).Draw(t, name))
	}
	turn := &Turn{
		Decision: rapid.Bool().Draw(t, "decision"),
		Role:     text("role", 40), Thread: text("thread", 40), Key: text("key", 40), Summary: text("summary", 200),
		Tokens:  rapid.Uint64Range(0, MaxTokens).Draw(t, "tokens"),
		ReplyTo: rapid.Uint64Range(0, MaxTurns).Draw(t, "replyTo"),
		Content: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "content"),
	}
	if rapid.Bool().Draw(t, "hasTime") {
		zone := time.FixedZone("", rapid.IntRange(1-maxZone, maxZone-1).Draw(t, "zone"))
		turn.Time = time.Unix(rapid.Int64().Draw(t, "sec"), rapid.Int64Range(0, 999_999_999).Draw(t, "nsec")).In(zone)
	}
	if rapid.Bool().Draw(t, "hasSource") {
		turn.Source = append([]byte{}, text("source", 100)...)
	}
	for range rapid.IntRange(0, 5).Draw(t, "entities") {
		turn.Entities = append(turn.Entities, text("entity", 20))
	}
	for range rapid.IntRange(0, 5).Draw(t, "tags") {
		turn.Tags = append(turn.Tags, text("tag", 20))
	}
	for _, bits := range rapid.SliceOfN(rapid.Uint32(), 0, 20).Draw(t, "embedding") {
		turn.Embedding = append(turn.Embedding, math.Float32frombits(bits))
	}
	return turn
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := someTurn(t)
		if err := turn.Validate(); err != nil {
			t.Fatal(err)
		}
		checkRecord(t, turn)
	})
}

// checkRecord encodes and decodes a turn behind other bytes and before others.
func checkRecord(t interface{ Fatalf(string, ...any) }, turn *Turn) {
	meta := AppendMeta([]byte("before"), turn)[len("before"):]
	r, n, err := DecodeMeta(append(bytes.Clone(meta), "behind"...), 0)
	if err != nil || n != len(meta) {
		t.Fatalf("%d of %d bytes, %v", n, len(meta), err)
	}
	if !r.Intact(turn.Content) || r.ContentLen != len(turn.Content) {
		t.Fatalf("content of %d bytes is not intact as %d", len(turn.Content), r.ContentLen)
	}
	if r.HasSource != (turn.Source != nil) || r.SourceLen != len(turn.Source) || r.HasSource && r.SourceSum != Hash(turn.Source) {
		t.Fatalf("source %v %d, want %v %d", r.HasSource, r.SourceLen, turn.Source != nil, len(turn.Source))
	}
	_, zone := r.Time.Zone()
	_, wantZone := turn.Time.Zone()
	if !r.Time.Equal(turn.Time) || zone != wantZone && !turn.Time.IsZero() {
		t.Fatalf("time %v, want %v", r.Time, turn.Time)
	}
	again := r.Turn
	again.Content, again.Source = turn.Content, turn.Source
	if !bytes.Equal(AppendMeta(nil, &again), meta) {
		t.Fatalf("%+v encodes to other bytes than %+v", again, *turn)
	}
	if changed := append(bytes.Clone(turn.Content), 0); r.Intact(changed) {
		t.Fatalf("another content is intact")
	}
}

func TestRecordTimes(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	for _, tm := range []time.Time{
		{},
		time.Unix(0, 0).UTC(), time.Unix(0, 0).In(tokyo), time.Unix(-1, 999_999_999).In(tokyo),
		time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-9999, 1, 1, 0, 0, 0, 0, tokyo), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Unix(math.MaxInt64, 1).UTC(), time.Unix(math.MinInt64, 1).UTC(),
		time.Unix(5, 5).In(time.FixedZone("", maxZone-1)), time.Unix(5, 5).In(time.FixedZone("", 1-maxZone)),
		time.Now().Round(0),
	} {
		checkRecord(t, &Turn{Time: tm})
	}
	// A zone that is none keeps its instant. The zero time has no zone.
	for _, tm := range []time.Time{time.Unix(7, 8).In(time.FixedZone("", maxZone)), time.Time{}.In(tokyo)} {
		r, _, err := DecodeMeta(AppendMeta(nil, &Turn{Time: tm}), 0)
		if err != nil || !r.Time.Equal(tm) {
			t.Errorf("%v became %v, %v", tm, r.Time, err)
		}
	}
}

func TestRecordKeepsNaN(t *testing.T) {
	for _, bits := range []uint32{0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x7F800000, 0x80000000, 1} {
		meta := AppendMeta(nil, &Turn{Embedding: []float32{math.Float32frombits(bits)}})
		r, _, err := DecodeMeta(meta, 0)
		if err != nil || math.Float32bits(r.Embedding[0]) != bits {
			t.Errorf("%#x became %#x, %v", bits, math.Float32bits(r.Embedding[0]), err)
		}
	}
}

func TestRecordStringsDoNotAlias(t *testing.T) {
	turn := fixTurn()
	meta := AppendMeta(nil, turn)
	r, _, err := DecodeMeta(meta, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range meta {
		meta[i] = 0xEE
	}
	if r.Role != turn.Role || r.Key != turn.Key || r.Entities[0] != turn.Entities[0] || r.Embedding[1] != turn.Embedding[1] {
		t.Error("the record changed with its bytes")
	}
}

// At each limit a turn is valid and decodes; one more names the limit.
func TestTurnLimits(t *testing.T) {
	labels := func(n int) []string { return []string{strings.Repeat("e", n-4-4), ""} }
	for _, c := range []struct {
		name    string
		largest Turn
		beyond  func(t *Turn)
	}{
		{"key", Turn{Key: strings.Repeat("k", MaxKey)}, func(t *Turn) { t.Key += "k" }},
		{"role", Turn{Role: strings.Repeat("r", MaxName)}, func(t *Turn) { t.Role += "r" }},
		{"thread", Turn{Thread: strings.Repeat("t", MaxName)}, func(t *Turn) { t.Thread += "t" }},
		{"summary", Turn{Summary: strings.Repeat("s", MaxSummary)}, func(t *Turn) { t.Summary += "s" }},
		{"entities", Turn{Entities: labels(MaxLabels)}, func(t *Turn) { t.Entities = labels(MaxLabels + 1) }},
		{"tags", Turn{Tags: make([]string, MaxLabels/4)}, func(t *Turn) { t.Tags = append(t.Tags, "") }},
		{"embedding", Turn{Embedding: make([]float32, MaxEmbedding)}, func(t *Turn) { t.Embedding = append(t.Embedding, 0) }},
		{"tokens", Turn{Tokens: MaxTokens}, func(t *Turn) { t.Tokens++ }},
		{"tokens", Turn{Tokens: MaxTokens}, func(t *Turn) { t.Tokens = math.MaxUint64 }},
		{"replied to", Turn{ReplyTo: MaxTurns}, func(t *Turn) { t.ReplyTo++ }},
	} {
		if err := c.largest.Validate(); err != nil {
			t.Errorf("%s at the limit: %v", c.name, err)
		}
		checkRecord(t, &c.largest)
		c.beyond(&c.largest)
		if err := c.largest.Validate(); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s beyond the limit: %v", c.name, err)
		}
		if _, _, err := DecodeMeta(AppendMeta(nil, &c.largest), 0); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s beyond the limit decodes: %v", c.name, err)
		}
	}
}

func TestTurnLimitsOfBytes(t *testing.T) {
	if trial.Brief() {
		t.Skip("reserves 768 MiB of address space")
	}
	for name, turn := range map[string]Turn{"content": {Content: make([]byte, MaxContent+1)}, "source": {Source: make([]byte, MaxSource+1)}} {
		if err := turn.Validate(); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The largest meta part fits what pieces allow it.
func TestLargestMeta(t *testing.T) {
	list := make([]string, MaxLabels/4)
	long := strings.Repeat("x", MaxSummary)
	turn := Turn{
		Decision: true, Role: long[:MaxName], Thread: long[:MaxName], Key: long[:MaxKey], Summary: long, Tokens: MaxTokens, ReplyTo: MaxTurns,
		Time: time.Unix(math.MinInt64+1, 999_999_999).In(time.FixedZone("", 1-maxZone)), Source: []byte{1},
		Entities: []string{strings.Repeat("e", MaxLabels-4)}, Tags: list, Embedding: make([]float32, MaxEmbedding),
	}
	if err := turn.Validate(); err != nil {
		t.Fatal(err)
	}
	meta := AppendMeta(nil, &turn)
	if len(meta) > maxMeta {
		t.Errorf("%d bytes, pieces take %d", len(meta), maxMeta)
	}
	p, rest, ok := NextPiece(AppendPiece(nil, 0, &Piece{Meta: meta}), 0)
	if !ok || len(rest) != 0 || !bytes.Equal(p.Meta, meta) {
		t.Error("a piece does not hold the largest meta part")
	}
}
