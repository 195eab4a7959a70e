package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sectorsOf makes one sector of each letter.
func sectorsOf(letters string) []byte {
	var b []byte
	for _, c := range []byte(letters) {
		b = append(b, bytes.Repeat([]byte{c}, SectorSize)...)
	}
	return b
}

// lettersOf reads sectors back: one letter for a whole one, 0 for zeros, and
// both letters for one that changes inside.
func lettersOf(b []byte) string {
	var s strings.Builder
	for part := range slices.Chunk(b, SectorSize) {
		var in string
		for _, c := range part {
			if c == 0 {
				c = '0'
			}
			if !strings.Contains(in, string(c)) {
				in += string(c)
			}
		}
		if len(in) > 1 {
			in = "[" + in + "]"
		}
		s.WriteString(in)
	}
	return s.String()
}

func openMem(t *testing.T, m *Mem, path string) File {
	t.Helper()
	f, err := m.Open(path, true)
	must(t, err)
	return f
}

// outcomes crashes m many times and returns the distinct contents of path.
func outcomes(m *Mem, path string, mode Mode) []string {
	seen := make(map[string]bool)
	for seed := range uint64(600) {
		seen[lettersOf(m.Crash(Variant{mode, seed}).Bytes(path))] = true
	}
	var all []string
	for s := range seen {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// TestCrashOutcomes pins the exact set of states after two overlapping writes.
func TestCrashOutcomes(t *testing.T) {
	m := NewMem(7)
	must(t, m.Put("f", sectorsOf("AAA")))
	f := openMem(t, m, "f")
	must(t, WriteFull(f, sectorsOf("BB"), 0))
	must(t, WriteFull(f, sectorsOf("CC"), SectorSize))
	for mode, want := range map[Mode]string{
		KeepNone:    "AAA",
		KeepAll:     "BCC",
		KeepWrites:  "AAA ACC BBA BCC",
		Reordered:   "ACC",
		TornSectors: "AAA AAC ABA ABC ACA ACC BAA BAC BBA BBC BCA BCC",
	} {
		if got := strings.Join(outcomes(m, "f", mode), " "); got != want {
			t.Errorf("%v leaves %s, want %s", mode, got, want)
		}
	}
	torn := strings.Join(outcomes(m, "f", TornBytes), " ")
	for _, want := range []string{"[BA]AA", "B[BA]A", "B[CB]A", "BC[CA]"} {
		if !strings.Contains(torn, want) {
			t.Errorf("torn at bytes never leaves %s: %s", want, torn)
		}
	}
	must(t, f.Sync())
	for mode := range modeEnd {
		if got := outcomes(m, "f", mode); !slices.Equal(got, []string{"BCC"}) {
			t.Errorf("%v loses synced bytes: %v", mode, got)
		}
	}
}

func TestCrashSizes(t *testing.T) {
	m := NewMem(1)
	must(t, m.Put("f", sectorsOf("AA")))
	f := openMem(t, m, "f")
	must(t, WriteFull(f, sectorsOf("B"), 3*SectorSize))
	if got := strings.Join(outcomes(m, "f", TornSectors), " "); got != "AA AA00 AA0B" {
		t.Errorf("an append leaves %s", got)
	}
	must(t, f.Sync())
	must(t, f.Truncate(SectorSize))
	if got := strings.Join(outcomes(m, "f", KeepWrites), " "); got != "A AA0B" {
		t.Errorf("a truncation leaves %s", got)
	}
	// What is written into space that was given back is seen only once the
	// truncation is, and the old bytes are not seen then.
	must(t, WriteFull(f, sectorsOf("C"), SectorSize))
	if got := strings.Join(outcomes(m, "f", TornSectors), " "); got != "A A0 AA0B AC" {
		t.Errorf("growing again leaves %s", got)
	}
}

// TestCrashAgainstHistory compares images of random histories with all the
// states the file went through: no byte may come from anywhere else.
func TestCrashAgainstHistory(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := NewMem(seed)
		must(t, m.Put("f", randomBytes(rng, rng.IntN(9000))))
		f := openMem(t, m, "f")
		states := [][]byte{m.Bytes("f")}
		truncates := seed%2 == 1
		for range 1 + rng.IntN(12) {
			if truncates && rng.IntN(4) == 0 {
				must(t, f.Truncate(rng.Int64N(12000)))
			} else {
				must(t, WriteFull(f, randomBytes(rng, 1+rng.IntN(5000)), rng.Int64N(9000)))
			}
			states = append(states, m.Bytes("f"))
		}
		for _, v := range Variants(seed) {
			unit := SectorSize
			if truncates || v.Mode == TornBytes || v.Mode == Mixed {
				unit = 1
			}
			left := m.Crash(v)
			got := left.Bytes("f")
			if err := fromStates(got, states, unit); err != nil {
				t.Fatalf("seed %d, %v: %v", seed, v, err)
			}
			if again := m.Crash(v).Bytes("f"); !bytes.Equal(got, again) {
				t.Fatalf("seed %d, %v: two images of one variant differ", seed, v)
			}
			if !bytes.Equal(got, left.DurableBytes("f")) {
				t.Fatalf("seed %d, %v: not all of the image is durable", seed, v)
			}
		}
		want := states[len(states)-1]
		if got := m.Crash(Variant{Mode: KeepAll}).Bytes("f"); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: keep-all differs from the page cache", seed)
		}
	}
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + rng.IntN(255))
	}
	return b
}

// fromStates checks that each unit of got is that of some state, which reads as
// zeros behind its end, and that its size is the size of one.
func fromStates(got []byte, states [][]byte, unit int) error {
	if !slices.ContainsFunc(states, func(s []byte) bool { return len(s) == len(got) }) {
		return fmt.Errorf("size %d was never that of the file", len(got))
	}
	padded := make([][]byte, len(states))
	for i, s := range states {
		padded[i] = append(slices.Clone(s), make([]byte, len(got))...)[:len(got)]
	}
	for off := 0; off < len(got); off += unit {
		part := got[off:min(off+unit, len(got))]
		known := bytes.Count(part, []byte{0}) == len(part)
		for i := 0; i < len(states) && !known; i++ {
			known = bytes.Equal(part, padded[i][off:off+len(part)])
		}
		if !known {
			return fmt.Errorf("the %d bytes at %d were never there", len(part), off)
		}
	}
	return nil
}

func TestCrashIsIndependent(t *testing.T) {
	m := NewMem(3)
	must(t, m.Put("f", sectorsOf("AAAAAAAAAAAA")))
	f := openMem(t, m, "f")
	must(t, f.TryLock())
	left := m.Crash(Variant{Mode: KeepAll})
	g := openMem(t, left, "f")
	must(t, g.TryLock()) // locks do not survive
	must(t, WriteFull(f, sectorsOf("B"), 0))
	must(t, WriteFull(g, sectorsOf("C"), SectorSize))
	must(t, f.Truncate(10*SectorSize))
	must(t, WriteFull(f, sectorsOf("BBBB"), 10*SectorSize))
	must(t, f.Sync())
	if got := lettersOf(m.Bytes("f")); got != "BAAAAAAAAABBBB" {
		t.Errorf("the original reads %s", got)
	}
	if got := lettersOf(left.Bytes("f")); got != "ACAAAAAAAAAA" {
		t.Errorf("the image reads %s", got)
	}
	if got := lettersOf(left.DurableBytes("f")); got != "AAAAAAAAAAAA" {
		t.Errorf("the image's medium has %s", got)
	}
}

func TestCrashOfNames(t *testing.T) {
	m := NewMem(5)
	must(t, m.Put("d/old", []byte("old")))
	f, tmp, err := m.CreateTemp("d/new")
	must(t, err)
	must(t, WriteFull(f, []byte("x"), 0))
	must(t, f.Sync())
	must(t, m.Link(tmp, "d/new"))
	must(t, m.Remove(tmp))
	must(t, m.Remove("d/old"))
	names := func(v Variant) string { return strings.Join(m.Crash(v).Names(), " ") }
	if got := names(Variant{Mode: KeepNone}); got != "d/old" {
		t.Errorf("before the directory's sync, at least %q stays", got)
	}
	if got := names(Variant{Mode: KeepAll}); got != "d/new" {
		t.Errorf("before the directory's sync, at most %q stays", got)
	}
	seen := make(map[string]bool)
	for seed := range uint64(100) {
		seen[names(Variant{KeepWrites, seed})] = true
	}
	if len(seen) != 4 {
		t.Errorf("two changed names leave %v, want all 4 combinations", seen)
	}
	must(t, m.SyncDir("elsewhere/x"))
	if got := names(Variant{Mode: KeepNone}); got != "d/old" {
		t.Errorf("the sync of another directory left %q", got)
	}
	must(t, m.SyncDir("d/new"))
	for _, v := range Variants(1) {
		if got := names(v); got != "d/new" {
			t.Errorf("%v: after the directory's sync %q stays", v, got)
		}
	}
	if got := m.Crash(Variant{}).Bytes("d/new"); string(got) != "x" {
		t.Errorf("the new file holds %q", got)
	}
}

func TestCrashKeepsHardLinks(t *testing.T) {
	m := NewMem(5)
	must(t, m.Put("a", []byte("1")))
	must(t, m.Link("a", "b"))
	must(t, m.SyncDir("a"))
	left := m.Crash(Variant{})
	must(t, WriteFull(openMem(t, left, "a"), []byte("2"), 0))
	if got := left.Bytes("b"); string(got) != "2" {
		t.Errorf("the other name reads %q", got)
	}
	must(t, left.Remove("a"))
	f := openMem(t, left, "b")
	must(t, f.Check())
	must(t, left.Remove("b"))
	mustBe(t, f.Check(), ErrReplaced)
}

func TestRestart(t *testing.T) {
	m := NewMem(5)
	must(t, m.Put("f", sectorsOf("A")))
	f := openMem(t, m, "f")
	must(t, f.TryLock())
	must(t, WriteFull(f, sectorsOf("B"), 0))
	m.Restart()
	_, err := f.Size()
	mustBe(t, err, ErrCrashed)
	mustBe(t, f.Sync(), ErrCrashed)
	g := openMem(t, m, "f")
	must(t, g.TryLock())
	if got := lettersOf(m.Bytes("f")); got != "B" {
		t.Errorf("the page cache was lost: %s", got)
	}
	if got := outcomes(m, "f", KeepWrites); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("the restart made bytes durable: %v", got)
	}
	must(t, g.Sync())
	if got := lettersOf(m.DurableBytes("f")); got != "B" {
		t.Errorf("a sync after the restart left %s", got)
	}
}

func TestFailedSyncLies(t *testing.T) {
	m := NewMem(5)
	must(t, m.Put("f", sectorsOf("AAA")))
	f := openMem(t, m, "f")
	must(t, WriteFull(f, sectorsOf("BBBB"), 0))
	eio := errors.New("input/output error")
	m.SetHook(func(op Op) error {
		if op.Kind == OpSync {
			return &FailedSync{Err: eio}
		}
		return nil
	})
	mustBe(t, f.Sync(), eio)
	m.SetHook(nil)
	m.Restart()
	if got := lettersOf(m.Bytes("f")); got != "BBBB" {
		t.Fatalf("reads see %s", got)
	}
	f = openMem(t, m, "f")
	must(t, f.Sync()) // it succeeds and does nothing
	for mode := range modeEnd {
		if got := outcomes(m, "f", mode); !slices.Equal(got, []string{"AAA"}) {
			t.Errorf("%v: the second sync wrote clean pages: %v", mode, got)
		}
	}
	must(t, WriteFull(f, sectorsOf("C"), SectorSize))
	must(t, f.Sync())
	if got := lettersOf(m.Crash(Variant{Mode: KeepAll}).Bytes("f")); got != "ACA0" {
		t.Errorf("after writing one sector again: %s", got)
	}
	if got := lettersOf(m.Bytes("f")); got != "BCBB" {
		t.Errorf("reads see %s", got)
	}
}

func TestFailedSyncReachesInPart(t *testing.T) {
	seen := make(map[string]bool)
	for seed := range uint64(100) {
		m := NewMem(5)
		must(t, m.Put("f", sectorsOf("AA")))
		f := openMem(t, m, "f")
		must(t, WriteFull(f, sectorsOf("BB"), 0))
		must(t, m.FailSync("f", Variant{TornSectors, seed}))
		must(t, f.Sync())
		left := m.Crash(Variant{Mode: KeepAll})
		seen[lettersOf(left.Bytes("f"))] = true
	}
	if len(seen) != 4 {
		t.Errorf("reached: %v, want all 4 combinations", seen)
	}
	mustBe(t, NewMem(1).FailSync("absent", Variant{}), fs.ErrNotExist)
}

// TestWritesDoNotAlias: images share whole pages with the record of a write,
// and none of them with the caller, or with each other once one is written.
func TestWritesDoNotAlias(t *testing.T) {
	m := NewMem(5)
	f, tmp, err := m.CreateTemp("f")
	must(t, err)
	p := bytes.Repeat([]byte{'A'}, 3*pageSize)
	must(t, WriteFull(f, p, 0))
	clear(p)
	must(t, WriteFull(f, []byte("B"), pageSize+7))
	want := bytes.Repeat([]byte{'A'}, 3*pageSize)
	states := [][]byte{nil, slices.Clone(want)}
	want[pageSize+7] = 'B'
	states = append(states, want)
	seen := make([]bool, len(states))
	for seed := range uint64(200) {
		v := Variant{Reordered, seed}
		if seed%2 == 1 {
			v.Mode = TornBytes
		}
		left := m.Crash(v)
		got := left.Bytes(tmp)
		for i, s := range states {
			seen[i] = seen[i] || bytes.Equal(got, s)
		}
		if len(got) > 0 { // what is done to the image must not show in the next one
			g := openMem(t, left, tmp)
			must(t, WriteFull(g, []byte("ZZZ"), int64(len(got)/2)))
		}
		if bytes.ContainsRune(got, 'Z') {
			t.Fatalf("%v: an image shows what was written to another", v)
		}
	}
	if !seen[1] {
		t.Error("the first write alone was never left as it was given")
	}
	if got := m.Bytes(tmp); !bytes.Equal(got, want) {
		t.Error("the page cache differs from what was written")
	}
}
