package format

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// number reads "4,096", "256 MiB", "1 KiB each", "2^40" or "8,192 floats".
func number(t testing.TB, s string) int64 {
	t.Helper()
	m := regexp.MustCompile(`^(?:2\^(\d+)|([\d,]+))(?: (KiB|MiB|GiB))?`).FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("no number in %q", s)
	}
	if m[1] != "" {
		n, _ := strconv.Atoi(m[1])
		return 1 << n
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(m[2], ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << map[string]int{"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[3]]
}

// section returns the text of a numbered section of SPEC.md.
func section(t testing.TB, n int) string {
	t.Helper()
	_, text, ok := strings.Cut(specText(t), "\n## "+strconv.Itoa(n)+". ")
	if !ok {
		t.Fatalf("SPEC.md has no section %d", n)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

func rowNamed(t testing.TB, table, field string) specRow {
	t.Helper()
	for _, r := range specTables(t)[table] {
		if r.field == field {
			return r
		}
	}
	t.Fatalf("table %q has no row %q", table, field)
	return specRow{}
}

// The meaning of a row that enumerates: "1 superblock, 2 log extent header".
func TestSpecEnumerations(t *testing.T) {
	kinds := map[Kind]string{
		KindSuperblock: "superblock", KindLogHeader: "log extent header", KindFrameHeader: "frame header", KindFrameBody: "frame body",
		KindLeaf: "catalog leaf", KindRoot: "catalog root", KindSegment: "segment header", KindBlock: "block", KindIndexPage: "index page",
		KindSectionTable: "section table", KindFooter: "footer", KindLogTrailer: "log extent trailer", KindDataPage: "data page",
	}
	names := func(list string) map[uint64]string {
		m := map[uint64]string{}
		for _, x := range regexp.MustCompile(`(\d+) ([a-z][^,;(]*)`).FindAllStringSubmatch(list, -1) {
			n, _ := strconv.ParseUint(x[1], 10, 64)
			m[n] = strings.TrimSpace(x[2])
		}
		return m
	}
	check := func(what string, got, want map[uint64]string) {
		for n, name := range want {
			if got[n] != name {
				t.Errorf("%s: SPEC.md says %d is %q, Go says %q", what, n, got[n], name)
			}
		}
		for n, name := range got {
			if want[n] == "" {
				t.Errorf("%s: %d %q of SPEC.md is not known here", what, n, name)
			}
		}
	}
	wantKinds := map[uint64]string{}
	for k, name := range kinds {
		wantKinds[uint64(k)] = name
	}
	check("kind", names(rowNamed(t, "binding", "kind").meaning), wantKinds)
	check("state", names(rowNamed(t, "superblock", "state").meaning), map[uint64]string{
		uint64(StateCreating): StateCreating.String(), uint64(StateClosed): StateClosed.String(), uint64(StateOpen): StateOpen.String(),
	})
	check("frame type", names(rowNamed(t, "frame header", "type").meaning), map[uint64]string{
		0: "is invalid", uint64(FrameTurns): "turns", uint64(FramePromise): "promise", uint64(FrameOptional): "up: optional",
	})
	check("stream", names(rowNamed(t, "block header", "stream").meaning), map[uint64]string{
		uint64(StreamDictionary): "dictionary", uint64(StreamContent): "content", uint64(StreamSource): "source",
	})
	check("codec", names(rowNamed(t, "block header", "codec").meaning), map[uint64]string{
		uint64(CodecRaw): "stored as it is", uint64(CodecZstd): "zstd", uint64(CodecZstdDict): "zstd with the segment's dictionary",
	})
	sections, _, _ := strings.Cut(rowNamed(t, "section entry", "type").meaning, "unknown types")
	check("section type", names(sections), map[uint64]string{
		uint64(SectionContentBlocks): "content blocks", uint64(SectionSourceBlocks): "source blocks", uint64(SectionKeys): "keys", uint64(SectionDictionary): "dictionary",
		uint64(SectionHot): "hot entries", uint64(SectionTerms): "terms", uint64(SectionVectors): "vectors",
		8: "traces", 9: "forgotten ids are reserved", // no code yet
	})
	flags := regexp.MustCompile(`uvarint flags: (.*); other bits`).FindStringSubmatch(section(t, 8))
	if flags == nil {
		t.Fatal("no flags in section 8")
	}
	check("flag", names(flags[1]), map[uint64]string{
		flagDecision: "decision", flagTime: "has time", flagSource: "has source", flagReplyTo: "has replyTo", flagKey: "has key",
		flagSummary: "has summary", flagEntities: "has entities", flagTags: "has tags", flagEmbedding: "has embedding", flagModel: "has model",
	})
	if flagsEnd != flagModel<<1 {
		t.Errorf("flags end at %d", flagsEnd)
	}
}

func TestSpecMagics(t *testing.T) {
	for _, l := range layouts() {
		rows := specTables(t)[l.table]
		for _, r := range rows {
			if r.field != "magic" {
				continue
			}
			got := l.encode(l.copy())[r.offset : r.offset+r.size]
			if want := magicOf(t, r.meaning); !bytes.Equal(got, want) {
				t.Errorf("%s: magic is %q, SPEC.md says %q", l.table, got, want)
			}
		}
	}
	trailer := EncodeLogEdge(fixUUID, fixExtent(), true)
	m := regexp.MustCompile(`("[^"]*") in the trailer`).FindStringSubmatch(rowNamed(t, "extent header", "magic").meaning)
	if m == nil || !bytes.Equal(trailer[:8], magicOf(t, m[1])) {
		t.Errorf("trailer begins with %q, SPEC.md says %q", trailer[:8], m)
	}
}

// magicOf reads `"text\n"`, `0xB10C` or `89 43 54 ...`.
func magicOf(t testing.TB, s string) []byte {
	t.Helper()
	if q := regexp.MustCompile(`^"[^"]*"`).FindString(s); q != "" {
		text, err := strconv.Unquote(q)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(text)
	}
	if x, ok := strings.CutPrefix(s, "0x"); ok {
		n, err := strconv.ParseUint(x, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.AppendUint16(nil, uint16(n))
	}
	b, err := hex.DecodeString(strings.ReplaceAll(regexp.MustCompile(`^([0-9A-F]{2} ?)+`).FindString(s), " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Numbers in the prose, by the words around them.
func TestSpecNumbers(t *testing.T) {
	text := strings.Join(strings.Fields(specText(t)), " ")
	for _, c := range []struct {
		pattern string
		want    []int64
	}{
		{`start at a multiple of ([\d,]+), have one owner`, []int64{ExtentAlign}},
		{`Slot A at offset ([\d,]+), slot B at ([\d,]+), each ([\d,]+) bytes`, []int64{SlotA, SlotB, SuperblockSize}},
		{`\| major \| (\d+);`, []int64{Major}},
		{`At offset ([\d,]+), ([\d,]+) bytes\. Says who`, []int64{HolderOffset, HolderSize}},
		{`log extents in use, 0 to (\d+)`, []int64{MaxLogExtents}},
		{`a multiple of 4,096, from ([\d,]+) to (\d+ MiB)`, []int64{MinLogExtent, MaxLogExtent}},
		{`A leaf describes up to (\d+) segments`, []int64{LeafEntries}},
		{`entries in use, 1 to (\d+) `, []int64{LeafEntries}},
		{`A log extent is a header in its first (\d+) bytes, frames, and a trailer in its last (\d+) bytes`, []int64{LogEdge, LogEdge}},
		{`Frames start at multiples of (\d+) `, []int64{FrameAlign}},
		{`from (\d+) up: optional`, []int64{int64(FrameOptional)}},
		{`\*\*Blocks\*\* start at multiples of (\d+) `, []int64{BlockAlign}},
		{`in units of (\d+) bytes`, []int64{BlockAlign}},
		{`rawLength is at most (\d+ MiB)`, []int64{MaxBlockRaw}},
		{`are \*index pages\* of ([\d,]+) bytes`, []int64{IndexPageSize}},
		{`\| (\d+) entries of 16 bytes`, []int64{IndexPageEntries}},
		{`entries in it, at most (\d+) `, []int64{MaxSections}},
		{`above -([\d,]+) and below ([\d,]+)\)`, []int64{maxZone, maxZone}},
		{`Content of up to ([\d,]+) \+ ([\d,]+) bytes is one part`, []int64{PartSize, partSlack}},
		{`while more than ([\d,]+) bytes are left`, []int64{PartSize + partSlack}},
		{`newline among bytes ([\d,]+) to ([\d,]+) of`, []int64{partMin, PartSize - 1}},
		{`up to position ([\d,]+) that starts`, []int64{PartSize}},
		{`Source is cut every ([\d,]+) bytes`, []int64{SourcePartSize}},
	} {
		m := regexp.MustCompile(c.pattern).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("SPEC.md does not say %q", c.pattern)
			continue
		}
		for i, want := range c.want {
			if got := number(t, m[i+1]); got != want {
				t.Errorf("%q: %d in SPEC.md, %d in Go", c.pattern, got, want)
			}
		}
	}
}

func TestSpecLimits(t *testing.T) {
	want := map[string]int64{
		"content of a turn": MaxContent, "source of a turn": MaxSource, "key": MaxKey, "role, thread, model": MaxName, "summary": MaxSummary,
		"entities, tags (each list, 4 bytes added for each string)": MaxLabels, "embedding": MaxEmbedding, "tokens of a turn": MaxTokens,
		"turns of a file": MaxTurns, "records of a batch": MaxBatch, "aside": MaxAside, "data of a vector run": MaxVectorRun, "file": MaxFile,
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (.*) \| (.*) \|$`).FindAllStringSubmatch(section(t, 17), -1) {
		if m[1] == "what" {
			continue
		}
		limit, ok := want[m[1]]
		if !ok {
			t.Errorf("limit of %q is not known here", m[1])
		} else if got := number(t, m[2]); got != limit {
			t.Errorf("limit of %q is %d in SPEC.md, %d in Go", m[1], got, limit)
		}
		delete(want, m[1])
	}
	for what := range want {
		t.Errorf("SPEC.md does not give the limit of %q", what)
	}
}
