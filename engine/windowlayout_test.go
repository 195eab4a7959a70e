package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ctxdb/cache"
	"ctxdb/format"
	"ctxdb/format/disk"
)

// anyContent is prose, code, one line without end, or bytes that are no text.
func anyContent(rng *rand.Rand) []byte {
	var b []byte
	n, kind := rng.IntN(30000), rng.IntN(4)
	for len(b) < n {
		switch kind {
		case 0:
			b = fmt.Appendf(b, "word%d ", rng.IntN(100))
		case 1:
			b = fmt.Appendf(b, "\tline %d\n", rng.IntN(100))
		case 2:
			b = append(b, "größer und kühner "...)
		default:
			b = append(b, byte(rng.Uint32()))
		}
	}
	return b
}

// TestLayout: pages follow each other without gap, add up to the turn, are what
// the file has as parts, and none is much larger than it should be.
func TestLayout(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, pageTokens := range []int{1024, 16, 100, 512, 2048, 5000, -1} {
		cut := newCutter(pageTokens)
		for range 100 {
			content := anyContent(rng)
			turn := Turn{ID: 1, Content: content, Tokens: rng.IntN(len(content)*3 + 2)}
			w := &Window{cut: cut, db: &DB{opts: Options{Tokenizer: EstimateTokens}}}
			l := w.newLayout(&turn)
			end, tokens := int32(0), int64(0)
			for i, p := range l.pages {
				if p.start != end || p.end <= p.start && len(content) > 0 || p.start < p.partStart || p.part >= p.upto {
					t.Fatalf("pages of %d tokens: page %d is %+v behind %d", pageTokens, i, p, end)
				}
				if limit := max(1, pageTokens/1024) * (format.PartSize + 1024); pageTokens > 0 && int(p.end-p.start) > min(limit, max(pageTokens, 1024)*5) {
					t.Fatalf("pages of %d tokens: page %d has %d bytes", pageTokens, i, p.end-p.start)
				}
				end, tokens = p.end, tokens+p.tokens
			}
			if int(end) != len(content) || tokens != int64(turn.Tokens) {
				t.Fatalf("pages of %d tokens: %d bytes and %d tokens of %d and %d", pageTokens, end, tokens, len(content), turn.Tokens)
			}
			last := l.pages[len(l.pages)-1]
			switch {
			case int(last.upto) != format.Parts(content),
				pageTokens == 1024 && len(l.pages) != format.Parts(content),
				pageTokens == -1 && len(l.pages) != 1:
				t.Fatalf("pages of %d tokens: %d pages, %d parts of %d", pageTokens, len(l.pages), last.upto, format.Parts(content))
			}
		}
	}
}

// TestPagesCostWhatTheyCount: where the file counted the tokens, a page costs
// what the tokenizer counts in it, to within a token of rounding.
func TestPagesCostWhatTheyCount(t *testing.T) {
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	content := []byte(strings.Repeat("a line of a long turn, as there are many\n", 700))
	appendTurns(t, db, Turn{Content: content})
	w, err := db.Window("", WindowOptions{BudgetTokens: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for part := range 7 {
		p, hit, err := w.Page(1, part)
		if err != nil || hit || p.Parts != 7 || p.Part != part {
			t.Fatalf("part %d: %+v, %v, %v", part, p, hit, err)
		}
		if want := EstimateTokens(p.Content); p.Tokens < want-1 || p.Tokens > want {
			t.Errorf("part %d costs %d tokens, %d were counted", part, p.Tokens, want)
		}
		if !bytes.Equal(p.Content, content[p.Offset:p.Offset+len(p.Content)]) {
			t.Errorf("part %d is not what lies at %d", part, p.Offset)
		}
		sum += p.Tokens
	}
	if sum != EstimateTokens(content) {
		t.Errorf("the parts cost %d, the turn %d", sum, EstimateTokens(content))
	}
	if turn, hit, err := w.Get(1); !hit || err != nil || !bytes.Equal(turn.Content, content) {
		t.Errorf("once all parts are here: hit %v, %v", hit, err)
	}
	if tokens, err := w.Layout(1); err != nil || len(tokens) != 7 {
		t.Error(tokens, err)
	}
}

// TestOldCopiesLeaveFirst: a file that was read again or overwritten, and not
// one that was edited, nor another file.
func TestOldCopiesLeaveFirst(t *testing.T) {
	read := func(tool, path string) Turn {
		return Turn{Role: "tool_result", Tokens: 100, Content: []byte(tool + path), Entities: []string{path, "x"}, Tags: []string{"error", "tool:" + tool}}
	}
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	ids := appendTurns(t, db, read("Read", "a"), read("Read", "b"), read("Edit", "b"), read("Read", "c"), read("Write", "d"),
		read("Read", "a"), read("Edit", "b"), read("Write", "c"), read("Read", "d"), Turn{Tokens: 100, Content: []byte("new")})
	w, err := db.Window("", WindowOptions{BudgetTokens: 900, KeepRecent: -1, LowWatermark: 0.7})
	if err != nil {
		t.Fatal(err)
	}
	var old []TurnID
	for _, id := range ids[:9] {
		if _, _, err := w.Get(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range w.Pages() {
		if p.OldCopy != (p.Class == cache.Doomed) {
			t.Errorf("%+v", p)
		}
		if p.OldCopy {
			old = append(old, p.ID)
		}
	}
	if want := []TurnID{1, 4, 5}; !slices.Equal(old, want) {
		t.Errorf("old copies are %v, not %v", old, want)
	}
	if _, _, err := w.Get(10); err != nil { // to 630, itself counted: three leave, and one more
		t.Fatal(err)
	}
	s := w.Stats()
	if got := w.Resident(); s.DoomedEvicted != 3 || s.Evictions != 4 || slices.Contains(got, 1) || slices.Contains(got, 4) || slices.Contains(got, 5) || slices.Contains(got, 2) {
		t.Errorf("resident %v, %+v", got, s)
	}
}

// TestResultsKeepTheirCalls: a call comes along, is guarded with a pinned
// result, and takes the others along when it leaves.
func TestResultsKeepTheirCalls(t *testing.T) {
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	long := []byte(strings.Repeat("a long call\n", 1000)) // 3 pages
	appendTurns(t, db, Turn{Role: "tool_call", Key: "c", Tokens: 3000, Content: long},
		Turn{Role: "tool_result", ReplyKey: "c", Tokens: 50, Content: []byte("done")}, Turn{Role: "user", Tokens: 3800, Content: []byte("big")})
	w, err := db.Window("", WindowOptions{BudgetTokens: 4000, KeepRecent: -1, LowWatermark: 1, Policy: cache.LRU})
	if err != nil {
		t.Fatal(err)
	}
	if _, hit, err := w.Get(2); hit || err != nil {
		t.Fatal(hit, err)
	}
	if s := w.Stats(); s.Pages != 2 || s.CallPages != 1 || !slices.Equal(w.Resident(), []TurnID{2, 1}) || s.Refs != 1 {
		t.Errorf("%v, %+v", w.Resident(), s)
	}
	if _, _, err := w.Get(3); err != nil {
		t.Fatal(err)
	}
	if got := w.Resident(); !slices.Equal(got, []TurnID{3}) {
		t.Errorf("the result stayed without its call: %v", got)
	}
	if err := w.Pin(2); err != nil { // its call does not fit beside turn 3, but turn 3 leaves
		t.Fatal(err)
	}
	pages := w.Pages()
	if len(pages) != 2 || pages[1].ID != 1 || pages[1].Class != cache.Guarded || pages[0].AnswersTo != 1 || !pages[0].Pinned {
		t.Errorf("%+v", pages)
	}
	if _, _, err := w.Get(3); err != nil {
		t.Fatal(err)
	}
	if got := w.Resident(); !slices.Equal(got, []TurnID{2, 3}) {
		t.Errorf("what is pinned left, or did not yield its call: %v", got)
	}
}

// TestFaultPinsDecay: 128 references, then 64, and never more than half.
func TestFaultPinsDecay(t *testing.T) {
	db := open(t, "/a", memOptions(disk.NewMem(1)))
	defer db.Close()
	var turns []Turn
	for i := range 600 {
		turns = append(turns, Turn{Tokens: 100, Content: fmt.Appendf(nil, "%d", i)})
	}
	appendTurns(t, db, turns...)
	w, err := db.Window("", WindowOptions{BudgetTokens: 1000, KeepRecent: -1, LowWatermark: 1, Policy: cache.LRU, PinOnFault: true})
	if err != nil {
		t.Fatal(err)
	}
	next := TurnID(2)
	others := func(while func() bool) (n int) { // turns that were never here
		for ; while(); n++ {
			w.View(next)
			next++
		}
		return n
	}
	here := func() bool { return slices.Contains(w.Resident(), 1) }
	w.View(1)
	if w.isHeld(makePageKey(1, 0)) {
		t.Fatal("pinned before it came back")
	}
	for n := firstHold; n >= 16; n /= 2 {
		others(here)
		w.View(1)
		if got := others(func() bool { return w.isHeld(makePageKey(1, 0)) }); got != n+1 { // the one more finds it over
			t.Errorf("a fault pin lasted %d references, not %d", got-1, n)
		}
	}
	for range 20 {
		pass(t, w, 1, 20)
		if s := w.Stats(); s.PinnedTokens > 500 {
			t.Fatalf("%d tokens are pinned by faults", s.PinnedTokens)
		}
	}
	if err := w.Pin(1); err != nil {
		t.Fatal(err)
	}
	for id := TurnID(2); id <= 10; id++ { // fault pins yield to others
		if err := w.Pin(id); err != nil {
			t.Fatalf("turn %d: %v", id, err)
		}
	}
}
