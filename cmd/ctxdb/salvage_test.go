package main

import (
	"strings"
	"testing"

	"ctxdb/engine"
)

// TestSalvageTextNamesEverythingOdd holds the text to what a report can say.
func TestSalvageTextNamesEverythingOdd(t *testing.T) {
	r := salvageReport{SalvageReport: engine.SalvageReport{
		Src: "a", Dst: "b", Kept: 9922, LostTurns: 551, NextID: 10474, Live: true,
		Lost: []engine.LostTurns{
			{IDRange: engine.IDRange{First: 51, Count: 550}, Reason: "segment 6 at 12288: \x1b[2Jblock", Offset: 24400},
			{IDRange: engine.IDRange{First: 9000, Count: 1}, Reason: "no segment and no frame"},
		},
		SourcesLost:     []engine.LostTurns{{IDRange: engine.IDRange{First: 7, Count: 2}, Reason: "block", Offset: 5000}},
		FromOlderCopies: []engine.IDRange{{First: 1, Count: 11}, {First: 13, Count: 1}},
		Unconfirmed:     []engine.IDRange{{First: 10471, Count: 3}},
		Conflicts:       []engine.Conflict{{ID: 10473, Kept: "log at 4096", Other: "log at 69632"}},
		Superblocks:     2, Segments: 17, OldSegments: 1, Frames: 3, Foreign: 1, ShiftedBytes: 512, Unreadable: 4096, ScannedBytes: 1 << 20,
	}}
	const want = `kept 9,922 of 10,473 turns in b (next id 10,474)
lost 551 turns:
  #51-#600  segment 6 at 12288: \x1b[2Jblock (offset 24,400)
  #9000     no segment and no frame
sources lost of 2 turns, which are kept:
  #7-#8  block (offset 5,000)
conflicts: two whole copies of 1 turn differ, and nothing says which was acknowledged:
  #10473  kept: log at 4096; other: log at 69632
from older copies, the newest is damaged: 12 turns: #1-#11 #13
unconfirmed, perhaps never acknowledged: 3 turns: #10471-#10473
scanned 1,048,576 bytes: 2 superblocks, 17 segments (1 old), 3 frames
ignored 1 structure of another file
the file began at offset 512, not at 0
the disk could not read 4,096 bytes
a writer holds a: what it wrote meanwhile may be missing here; copy the file when it is closed
`
	var out strings.Builder
	r.text(&out)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	if !r.isIncomplete() {
		t.Error("taken for complete")
	}
}

func TestSalvageListsAreBounded(t *testing.T) {
	var r salvageReport
	for i := range 50 {
		x := engine.IDRange{First: engine.TurnID(1 + 2*i), Count: 1}
		r.Lost = append(r.Lost, engine.LostTurns{IDRange: x, Reason: "block"})
		r.Unconfirmed = append(r.Unconfirmed, x)
	}
	var out strings.Builder
	r.text(&out)
	if got := out.String(); strings.Count(got, " block\n") != listShown || !strings.Contains(got, "\n  ... and 30 more; --verbose names them\n") ||
		!strings.Contains(got, " #39 ... and 30 ranges more; --verbose names them\n") {
		t.Errorf("not bounded:\n%s", got)
	}
	r.everything = true
	out.Reset()
	r.text(&out)
	if got := out.String(); strings.Count(got, " block\n") != 50 || strings.Contains(got, "more") || !strings.Contains(got, " #97 #99\n") {
		t.Errorf("not complete:\n%s", got)
	}
}

// TestSalvageIsIncomplete: what is missing or doubtful makes the exit code 1, what was
// only found another way does not.
func TestSalvageIsIncomplete(t *testing.T) {
	x := engine.IDRange{First: 1, Count: 1}
	for _, r := range []engine.SalvageReport{
		{LostTurns: 1}, {Lost: []engine.LostTurns{{IDRange: x}}}, {SourcesLost: []engine.LostTurns{{IDRange: x}}}, {Conflicts: []engine.Conflict{{ID: 1}}},
	} {
		if s := (salvageReport{SalvageReport: r}); !s.isIncomplete() {
			t.Errorf("taken for complete: %+v", r)
		}
	}
	s := salvageReport{SalvageReport: engine.SalvageReport{Unconfirmed: []engine.IDRange{x}, FromOlderCopies: []engine.IDRange{x}, Foreign: 1, ShiftedBytes: 1}}
	if s.isIncomplete() {
		t.Error("taken for incomplete")
	}
}
