package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
	"ctxdb/fuzz/trial"
)

// original is a file to wreck, and what was appended to it.
type original struct {
	bytes  []byte
	turns  []Turn
	blocks [][]span // of each turn: of its content, and of the dictionary that it needs
	source [][]span // of each turn: of its source
	heads  [][]span // of each turn: the header of its segment
	leaves []span   // of the catalog
	segs   []SegmentStats
	super  format.Superblock
}

// whole reports whether nothing of a turn was touched, and something still
// says where its segment is: its own header, or the catalog. That both may be
// lost together is a limit of the format.
func (w *original) whole(i int, wreck []byte) bool {
	return !hit(w.bytes, wreck, w.blocks[i]) && !(hit(w.bytes, wreck, w.heads[i]) && hit(w.bytes, wreck, w.leaves))
}

// makeOriginal writes a file in several lives, so that later segments absorb
// earlier ones. With logged turns it ends as a crash leaves it.
func makeOriginal(t testing.TB, seed uint64, lives, perLife, logged int) *original {
	t.Helper()
	mem := disk.NewMem(seed)
	var entropy [32]byte
	entropy[0] = byte(seed)
	o := Options{FS: mem, Inline: true, LogBytes: 64 << 10, Entropy: rand.NewChaCha8(entropy)}
	rng := rand.New(rand.NewPCG(seed, seed))
	w := &original{}
	grow := func(db *DB, n int) {
		for range n {
			var batch []Turn
			for range 1 + rng.IntN(3) {
				batch = append(batch, makeTurn(rng, len(w.turns)+len(batch)+1))
			}
			appendTurns(t, db, batch...)
			w.turns = append(w.turns, batch...)
		}
	}
	for range lives {
		db := open(t, "/a", &o)
		grow(db, perLife)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if logged > 0 {
		db := open(t, "/a", &o)
		grow(db, logged)
		o.FS = mem.Crash(disk.Variant{Mode: disk.KeepAll})
		mem = o.FS.(*disk.Mem)
	}
	w.bytes = mem.Bytes("/a")
	w.describe(t, mem)
	return w
}

func (w *original) describe(t testing.TB, mem *disk.Mem) {
	db := open(t, "/a", &Options{FS: mem, ReadOnly: true})
	defer db.Close()
	w.segs, w.super = db.Stats().Segments, db.view.Load().super
	for _, l := range db.view.Load().root.Leaves {
		w.leaves = append(w.leaves, span{off: l.Offset, len: format.LeafSize})
	}
	for i := range w.turns {
		where, err := db.Where(TurnID(i + 1))
		if err != nil {
			t.Fatal(err)
		}
		var content, source, head []span
		for _, s := range w.segs {
			if s.Number == where[0].Segment && s.Number != 0 {
				head = []span{{off: s.Offset, len: format.SegmentHeaderSize}}
			}
		}
		w.heads = append(w.heads, head)
		for _, l := range where {
			s := span{off: l.Offset, len: l.Stored + format.BlockHeaderSize}
			if l.Region == "log frame" {
				s.len = format.FrameHeaderSize + int64(binaryLength(w.bytes[l.Offset:]))
			}
			if l.Codec == "zstd with dictionary" {
				content = append(content, w.dictionary(l.Segment))
			}
			if l.Region == "source block" {
				source = append(source, s)
			} else {
				content = append(content, s)
			}
		}
		w.blocks, w.source = append(w.blocks, content), append(w.source, source)
	}
}

func binaryLength(frame []byte) uint32 {
	return uint32(frame[4]) | uint32(frame[5])<<8 | uint32(frame[6])<<16
}

func (w *original) dictionary(number uint64) span {
	for _, s := range w.segs {
		if s.Number == number {
			at := s.Offset + format.SegmentHeaderSize
			h, _ := format.PeekBlock(w.bytes[at:])
			return span{off: at, len: format.BlockHeaderSize + int64(h.Stored)}
		}
	}
	panic("no such segment")
}

// hit reports whether any of these bytes differ.
func hit(a, b []byte, spans []span) bool {
	for _, s := range spans {
		if s.end() > int64(len(b)) || !bytes.Equal(a[s.off:s.end()], b[s.off:s.end()]) {
			return true
		}
	}
	return false
}

// salvageWreck salvages, and holds the new file and the report against the
// original: nothing wrong, nothing missing that is whole. It returns how many
// turns were to be expected at least.
func (w *original) salvageWreck(t testing.TB, wreck []byte) (SalvageReport, int) {
	t.Helper()
	mem := disk.NewMem(9)
	if err := mem.Put("/wreck", wreck); err != nil {
		t.Fatal(err)
	}
	r, err := SalvageWith(ctx, "/new", "/wreck", SalvageOptions{FS: mem})
	if !bytes.Equal(mem.Bytes("/wreck"), wreck) {
		t.Fatal("the wreck was written to")
	}
	expected := 0
	for i := range w.turns {
		if w.whole(i, wreck) {
			expected++
		}
	}
	if err != nil {
		if expected > 0 {
			t.Fatalf("%d turns are whole: %v", expected, err)
		}
		if names := mem.Names(); len(names) != 1 {
			t.Fatalf("after %v there are %q", err, names)
		}
		return r, 0
	}
	if names := mem.Names(); len(names) != 2 {
		t.Fatalf("there are %q", names)
	}
	db := open(t, "/new", &Options{FS: mem})
	defer db.Close()
	w.compare(t, db, wreck, &r)
	return r, expected
}

func (w *original) compare(t testing.TB, db *DB, wreck []byte, r *SalvageReport) {
	t.Helper()
	kept, noSource := map[TurnID]bool{}, map[TurnID]bool{}
	each(r.KeptRanges, func(id TurnID) { kept[id] = true })
	for _, l := range r.SourcesLost {
		each([]IDRange{l.IDRange}, func(id TurnID) { noSource[id] = true })
	}
	if uint64(len(kept)) != r.Kept {
		t.Fatalf("%d kept, its ranges have %d", r.Kept, len(kept))
	}
	for i := range w.turns {
		id := TurnID(i + 1)
		got, err := db.Get(id)
		switch whole := w.whole(i, wreck); {
		case err != nil && kept[id] || err == nil && !kept[id]:
			t.Fatalf("turn %d, said to be kept %v: %v", id, kept[id], err)
		case err != nil && whole:
			t.Fatalf("turn %d is whole at %v: %v\n%+v", id, w.blocks[i], err, r.Lost)
		case err != nil:
			if !errors.Is(err, ErrCorrupt) && id < r.NextID {
				t.Fatalf("turn %d: %v", id, err)
			}
			continue
		}
		want := w.turns[i]
		if err := sameTurn(want, got); err != nil {
			t.Fatalf("turn %d: %v", id, err)
		}
		src, err := db.Source(id)
		if err != nil || noSource[id] != (src == nil && want.Source != nil) || src != nil && !bytes.Equal(src, want.Source) {
			t.Fatalf("source of %d, lost %v: %d bytes of %d, %v", id, noSource[id], len(src), len(want.Source), err)
		}
		if noSource[id] && !hit(w.bytes, wreck, w.source[i]) {
			t.Fatalf("source of %d is whole at %v: %+v", id, w.source[i], r.SourcesLost)
		}
		if k, err := db.Lookup(want.Key); err != nil || k != id {
			t.Fatalf("key %q: %d, %v", want.Key, k, err)
		}
	}
	w.proper(t, db, r)
}

// proper holds the new file against verify: only what was lost is a finding.
func (w *original) proper(t testing.TB, db *DB, r *SalvageReport) {
	t.Helper()
	var lost uint64
	for f, err := range db.Verify(ctx) {
		if err != nil || f.Region != "turns" {
			t.Fatalf("verify: %+v, %v", f, err)
		}
		lost += f.Count
	}
	if lost != r.LostTurns || r.Kept+r.LostTurns != uint64(r.NextID)-1 {
		t.Fatalf("verify misses %d turns, the report %d; %d kept, next id %d", lost, r.LostTurns, r.Kept, r.NextID)
	}
	if ids := appendTurns(t, db, Turn{Role: "user", Content: []byte("next")}); ids[0] != r.NextID {
		t.Fatalf("the next turn is %d, the report says %d", ids[0], r.NextID)
	}
}

func each(all []IDRange, f func(TurnID)) {
	for _, r := range all {
		for i := range r.Count {
			f(r.First + TurnID(i))
		}
	}
}

// zeroMagic clears every 4 KiB that begins with a magic.
func zeroMagic(b []byte, magic string, n int) {
	for at := 0; at+8 <= len(b); at += 4096 {
		if string(b[at:at+8]) == magic {
			clear(b[at:min(at+n, len(b))])
		}
	}
}

func (w *original) zeroFooters(b []byte) {
	for _, s := range w.segs {
		clear(b[s.Offset+s.Length-format.FooterSize : s.Offset+s.Length])
	}
}

func TestSalvageWrecks(t *testing.T) {
	cases := []struct {
		name  string
		wreck func(w *original, b []byte) []byte
		all   bool // every turn is to be kept
	}{
		{"intact", func(w *original, b []byte) []byte { return b }, true},
		{"superblock A", func(w *original, b []byte) []byte { clear(b[:4096]); return b }, true},
		{"superblocks", func(w *original, b []byte) []byte { clear(b[:8192]); return b }, true},
		{"front", func(w *original, b []byte) []byte { clear(b[:12288]); return b }, true},
		{"leaves", func(w *original, b []byte) []byte { zeroMagic(b, "ctxleaf\n", 4096); return b }, true},
		{"roots", func(w *original, b []byte) []byte { zeroMagic(b, "ctxroot\n", 4096); return b }, true},
		{"front and catalog", func(w *original, b []byte) []byte {
			clear(b[:12288])
			zeroMagic(b, "ctxleaf\n", 4096)
			zeroMagic(b, "ctxroot\n", 4096)
			return b
		}, true},
		{"segment headers", func(w *original, b []byte) []byte { zeroMagic(b, "ctxsegm\n", 128); return b }, true},
		{"superblocks, roots and segment headers", func(w *original, b []byte) []byte {
			clear(b[4096:8192])
			zeroMagic(b, "ctxroot\n", 4096)
			zeroMagic(b, "ctxsegm\n", 128)
			return b
		}, true},
		{"footers", func(w *original, b []byte) []byte { w.zeroFooters(b); return b }, true},
		{"footers and front", func(w *original, b []byte) []byte { w.zeroFooters(b); clear(b[:12288]); return b }, true},
		{"log headers", func(w *original, b []byte) []byte { zeroMagic(b, "ctxlogh\n", 512); return b }, true},
		{"log headers and front", func(w *original, b []byte) []byte {
			zeroMagic(b, "ctxlogh\n", 512)
			clear(b[:12288])
			return b
		}, true},
		{"garbage in front", func(w *original, b []byte) []byte { return append(bytes.Repeat([]byte("junk!"), 1001), b...) }, true},
		{"4 KiB in front", func(w *original, b []byte) []byte { return append(make([]byte, 4096), b...) }, true},
		{"front cut off", func(w *original, b []byte) []byte { return b[4096:] }, true},
		{"garbage behind", func(w *original, b []byte) []byte { return append(b, bytes.Repeat([]byte("junk!"), 1001)...) }, true},
		{"dictionaries", func(w *original, b []byte) []byte {
			for _, s := range w.segs {
				d := w.dictionary(s.Number)
				clear(b[d.off:d.end()])
			}
			return b
		}, false},
		{"second half", func(w *original, b []byte) []byte { clear(b[len(b)/2:]); return b }, false},
		{"hole", func(w *original, b []byte) []byte { clear(b[len(b)/3 : len(b)/2]); return b }, false},
	}
	for _, logged := range []int{60, 0}[:trial.Size(2, 1)] {
		w := makeOriginal(t, 7, 6, 60, logged)
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s/logged=%d", c.name, logged), func(t *testing.T) {
				r, least := w.salvageWreck(t, c.wreck(w, bytes.Clone(w.bytes)))
				if c.all && (r.Kept != uint64(len(w.turns)) || r.LostTurns > 0 || len(r.SourcesLost) > 0) {
					t.Errorf("%d of %d kept, lost %+v, sources %+v", r.Kept, len(w.turns), r.Lost, r.SourcesLost)
				}
				if len(r.Conflicts) > 0 {
					t.Errorf("conflicts: %+v", r.Conflicts)
				}
				t.Logf("%d of %d kept, %d at least, older %v, unconfirmed %v, %d segments, %d old, %d frames", r.Kept, len(w.turns), least, r.FromOlderCopies, r.Unconfirmed, r.Segments, r.OldSegments, r.Frames)
			})
		}
	}
}

// TestSalvageYield damages sectors and blocks at random.
func TestSalvageYield(t *testing.T) {
	const seed = 41
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	rounds := 30
	if trial.Brief() {
		rounds = 12
	}
	var kept, least, total, older uint64
	for _, logged := range []int{0, 50} {
		w := makeOriginal(t, 11+uint64(logged), 5, 70, logged)
		for range rounds {
			b := bytes.Clone(w.bytes)
			for range 1 + rng.IntN(12) {
				damage(rng, b)
			}
			r, n := w.salvageWreck(t, b)
			kept, least, total = kept+r.Kept, least+uint64(n), total+uint64(len(w.turns))
			each(r.FromOlderCopies, func(TurnID) { older++ })
		}
	}
	t.Logf("%d turns kept of %d; %d were untouched, %d came from older copies", kept, total, least, older)
}

// damage zeroes a sector or block, fills it with noise, flips a bit of it, or
// swaps it with another.
func damage(rng *rand.Rand, b []byte) {
	size := []int{512, 4096}[rng.IntN(2)]
	n := len(b) / size
	if n == 0 {
		return
	}
	at, other := rng.IntN(n)*size, rng.IntN(n)*size
	x, y := b[at:at+size], b[other:other+size]
	switch rng.IntN(4) {
	case 0:
		clear(x)
	case 1:
		for i := range x {
			x[i] = byte(rng.Uint32())
		}
	case 2:
		x[rng.IntN(size)] ^= 1 << rng.IntN(8)
	case 3:
		if isHeader(x) || isHeader(y) {
			return // without a catalog a segment is where its header is
		}
		tmp := bytes.Clone(x)
		copy(x, y)
		copy(y, tmp)
	}
}

func isHeader(b []byte) bool { return bytes.HasPrefix(b, []byte("ctxsegm\n")) }

func TestSalvageTruncated(t *testing.T) {
	w := makeOriginal(t, 5, 3, 14, 8)
	for n := 0; n < len(w.bytes); n += 1000 {
		if trial.Brief() && n%7000 != 0 {
			continue
		}
		w.salvageWreck(t, w.bytes[:n])
	}
}

func TestSalvageRefuses(t *testing.T) {
	mem := disk.NewMem(1)
	rng := rand.New(rand.NewPCG(3, 3))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	w := makeOriginal(t, 3, 1, 3, 0)
	newer := bytes.Clone(w.bytes)
	for _, slot := range []int64{0, 4096} {
		s := w.super
		s.RequiredFeatures = 4
		copy(newer[slot:], s.Encode(slot))
	}
	forgetful := forgets(t, w)
	db := open(t, "/empty", &Options{FS: mem})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"/noise": noise, "/none": {}, "/zeros": make([]byte, 100_000), "/newer": newer, "/forgetful": forgetful, "/there": w.bytes, "/src": w.bytes} {
		if err := mem.Put(name, b); err != nil {
			t.Fatal(err)
		}
	}
	before := mem.Names()
	for _, c := range []struct {
		dst, src string
		want     error
	}{
		{"/x", "/noise", ErrNotCtxdb},
		{"/x", "/none", ErrNotCtxdb},
		{"/x", "/zeros", ErrNotCtxdb},
		{"/x", "/absent", fs.ErrNotExist},
		{"/x", "/newer", ErrVersion},
		{"/x", "/forgetful", ErrVersion},
		{"/x", "/empty", ErrNothingSalvaged},
		{"/there", "/src", fs.ErrExist},
		{"/none", "/src", fs.ErrExist},
		{"/src", "/src", fs.ErrExist},
	} {
		_, err := SalvageWith(ctx, c.dst, c.src, SalvageOptions{FS: mem})
		if !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.src, c.dst, err, c.want)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := SalvageWith(canceled, "/x", "/src", SalvageOptions{FS: mem}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if after := mem.Names(); !slices.Equal(before, after) || !bytes.Equal(mem.Bytes("/there"), w.bytes) {
		t.Errorf("names were %q, are %q", before, after)
	}
}

// forgets makes a file whose catalog names a set of forgotten ids.
func forgets(t *testing.T, w *original) []byte {
	b := append(bytes.Clone(w.bytes), make([]byte, 4096)...)
	s := w.super
	root, err := format.DecodeRoot(b[s.RootOffset:s.RootOffset+s.RootLength], s.UUID, s.RootOffset, s.RootSum)
	if err != nil {
		t.Fatal(err)
	}
	root.ForgottenOffset, root.ForgottenLength = int64(len(w.bytes)+4095)&^4095, 8
	var encoded []byte
	encoded, s.RootSum = root.Encode(s.UUID, s.RootOffset)
	copy(b[s.RootOffset:], encoded)
	for _, slot := range []int64{0, 4096} {
		copy(b[slot:], s.Encode(slot))
	}
	return b
}

func TestSalvageReportIsJSON(t *testing.T) {
	w := makeOriginal(t, 3, 1, 10, 0)
	b := bytes.Clone(w.bytes)
	s := w.blocks[4][len(w.blocks[4])-1]
	b[s.off+40] ^= 1
	r, _ := w.salvageWreck(t, b)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back SalvageReport
	if err := json.Unmarshal(text, &back); err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", r) {
		t.Errorf("%v\n%+v\n%+v", err, r, back)
	}
	if r.LostTurns > 0 && (len(r.Lost) == 0 || r.Lost[0].Offset != s.off) {
		t.Errorf("damage at %d: %+v", s.off, r.Lost)
	}
	t.Logf("%s", text)
}
