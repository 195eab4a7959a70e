package replay

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// filler is text of that many tokens without anything to quote.
func filler(tokens int) string { return strings.Repeat("abc\n", tokens) }

// brief lists the references of some kinds as step:item:kind.
func brief(t *Trace, kinds ...Kind) (all []string) {
	for _, r := range t.Refs {
		if slices.Contains(kinds, r.Kind) {
			all = append(all, fmt.Sprintf("%d:%d:%v", r.Step, r.Item, r.Kind))
		}
	}
	return all
}

// idle are n steps in which nothing happens.
func idle(n int) (turns []Turn) {
	for range n {
		turns = append(turns, Turn{Role: Assistant, Text: "ok"}, Turn{Role: User, Text: "go on"})
	}
	return turns
}

// numbered is what a read tool shows.
func numbered(from int, lines ...string) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%6d\t%s\n", from+i, line)
	}
	return b.String()
}

func read(id, path string, from, to int, text string) []Turn {
	return []Turn{
		{Role: Call, CallID: id, Text: path + "\n", Files: []Access{{Path: path, From: from, To: to}}},
		{Role: Result, CallID: id, Text: text},
	}
}

func edit(path string, old ...string) []Turn {
	return []Turn{{Role: Call, Text: "x\n", Files: []Access{{Kind: EditFile, Path: path, Old: old}}}, {Role: User, Text: "fine"}}
}

func check(t *testing.T, tr *Trace, kinds []Kind, want ...string) {
	t.Helper()
	if got := brief(tr, kinds...); !slices.Equal(got, want) {
		t.Errorf("%v\n got %v\nwant %v", kinds, got, want)
	}
}

var (
	recalls = []Kind{Reread, Edit, Quote}
	deaths  = []Kind{DeadReread, DeadEdit}
)

func TestItemsAndSteps(t *testing.T) {
	tr := Extract("x", slices.Values(slices.Concat(
		[]Turn{{Role: User, Text: filler(100)}, {Role: User, Text: filler(99)}},
		[]Turn{
			{Role: Assistant, Message: "m1", Text: filler(60)},
			{Role: Call, Message: "m1", CallID: "a", Text: filler(99)},
			{Role: Result, CallID: "a", Text: filler(49)},
			{Role: Result, CallID: "b", Text: filler(50)}, // before its call
			{Role: Call, Message: "m1", CallID: "b", Text: filler(100)},
			{Role: Assistant, Message: "m1", Text: filler(60)}, // 120 together
			{Role: Call, Message: "m2", Text: "äöüß"},
		},
		idle(4),
	)))
	check(t, tr, []Kind{New}, "1:0:new", "2:1:new", "2:2:new", "2:3:new")
	var kinds []string
	for _, r := range tr.Refs {
		if r.Kind == New {
			kinds = append(kinds, fmt.Sprint(r.ItemKind, r.Size))
		}
	}
	if want := []string{"user100", "asst121", "call100", "out50"}; !slices.Equal(kinds, want) {
		t.Errorf("items %v, want %v", kinds, want)
	}
	check(t, tr, []Kind{Tail}, "2:0:tail",
		"3:0:tail", "3:1:tail", "3:2:tail", "3:3:tail", "4:0:tail", "4:1:tail", "4:2:tail", "4:3:tail",
		"5:0:tail", "5:1:tail", "5:2:tail", "5:3:tail", "6:1:tail", "6:2:tail", "6:3:tail")
}

func TestRereads(t *testing.T) {
	lines := strings.Split(filler(80), "\n")
	tr := Extract("x", slices.Values(slices.Concat(
		read("a", "/f", 1, 40, numbered(1, lines[:40]...)),      // step 2, item 0
		read("b", "/f", 100, 120, numbered(100, lines[:21]...)), // step 3, item 1
		read("c", "/g", 1, 40, numbered(1, lines[:40]...)),      // step 4, item 2: another file
		idle(4),
		read("d", "/f", 41, 60, numbered(41, lines[:20]...)), // step 9: follows on item 0
		idle(4),
		read("e", "/f", 30, 50, numbered(30, lines[:21]...)), // step 14: the newest that shares lines is item 3
		read("f", "/f", 200, 300, numbered(200, lines[:80]...)),
		idle(4),
		read("g", "/f", 1, 0, numbered(1, lines[:80]...)), // step 20: everything
	)))
	check(t, tr, recalls, "9:0:reread", "14:3:reread", "20:5:reread")
	check(t, tr, deaths, "20:0:dead_reread", "20:1:dead_reread", "20:3:dead_reread", "20:4:dead_reread", "20:5:dead_reread")
	// Lines 30 to 50 of 41 to 60 are the first half of item 3.
	for _, r := range tr.Refs {
		if r.Step == 14 && r.Kind == Reread && (r.From != 0 || r.To < r.Size*45/100 || r.To > r.Size*55/100) {
			t.Errorf("needed of %d: %d to %d", r.Size, r.From, r.To)
		}
	}
}

func TestEdits(t *testing.T) {
	one := strings.Repeat("first\n", 60)
	two := strings.Repeat("second\n", 60)
	tr := Extract("x", slices.Values(slices.Concat(
		read("a", "/f", 1, 60, one+"unique piece\n"+one), // step 2, item 0
		read("b", "/f", 99, 0, two),                      // step 3, item 1
		edit("/f", "first"),                              // step 4: in view, but superseded
		idle(4),                                          // 5 to 8
		edit("/f", "unique piece"),                       // step 9
		edit("/f", "found nowhere"),                      // step 10: the newest
		edit("/unknown", "first"),                        // step 11
		[]Turn{{Role: Call, Text: "/f\n" + filler(100), Files: []Access{{Kind: WriteFile, Path: "/f", From: 1}}}},
	)))
	check(t, tr, recalls, "9:0:edit", "10:1:edit")
	check(t, tr, deaths, "4:0:dead_edit", "4:1:dead_edit", "12:0:dead_reread", "12:1:dead_reread")
	for _, r := range tr.Refs {
		switch {
		case r.Step == 9 && r.Kind == Edit && (r.From < r.Size*4/10 || r.To > r.Size*6/10 || r.To <= r.From):
			t.Errorf("the piece in the middle of %d is at %d to %d", r.Size, r.From, r.To)
		case r.Step == 10 && r.Kind == Edit && r.To != 0:
			t.Errorf("what is found nowhere is at %d to %d", r.From, r.To)
		}
	}
}

func out(texts ...string) (turns []Turn) {
	for _, text := range texts {
		turns = append(turns, Turn{Role: Assistant, Text: "look"}, Turn{Role: Result, Text: text + "\n" + filler(60)})
	}
	return turns
}

func say(texts ...string) (turns []Turn) {
	for _, text := range texts {
		turns = append(turns, Turn{Role: Assistant, Text: text}, Turn{Role: User, Text: "yes"})
	}
	return turns
}

func TestQuotes(t *testing.T) {
	for _, tc := range []struct {
		name  string
		turns []Turn
		want  []string
	}{
		{"an identifier", slices.Concat(out("has someIdentifier in it"), idle(4), say("see someIdentifier")), []string{"7:0:quote"}},
		{"a path", slices.Concat(out("in src/deep/file.go:12"), idle(4), say("open /src/deep/file.go.")), []string{"7:0:quote"}},
		{"a line", slices.Concat(out("    12\t  if the sky is blue then go"), idle(4), say("x\nif the sky is blue then go\n")), []string{"7:0:quote"}},
		{"a short line", slices.Concat(out("if the sky is blue"), idle(4), say("x\nif the sky is blue")), nil},
		{"a word", slices.Concat(out("extraordinarily"), idle(4), say("extraordinarily")), nil},
		{"in view", slices.Concat(out("someIdentifier"), idle(3), say("someIdentifier")), nil},
		{"the newest holder is in view", slices.Concat(out("someIdentifier"), idle(2), out("someIdentifier"), idle(2), say("someIdentifier")), nil},
		{"the newest holder", slices.Concat(out("someIdentifier", "someIdentifier"), idle(4), say("someIdentifier")), []string{"8:1:quote"}},
		{"three holders", slices.Concat(out("x_y_zzzz", "x_y_zzzz", "x_y_zzzz"), idle(4), say("x_y_zzzz")), []string{"9:2:quote"}},
		{"four holders", slices.Concat(out("x_y_zzzz", "x_y_zzzz", "x_y_zzzz", "x_y_zzzz"), idle(4), say("x_y_zzzz")), nil},
		{"said lately", slices.Concat(out("someIdentifier"), idle(4), say("someIdentifier", "someIdentifier")), []string{"7:0:quote"}},
		{"said long ago", slices.Concat(out("someIdentifier"), idle(4), say("someIdentifier"), idle(4), say("someIdentifier")), []string{"7:0:quote", "12:0:quote"}},
		{"once a step", slices.Concat(out("someIdentifier otherIdentifier"), idle(4), say("someIdentifier otherIdentifier")), []string{"7:0:quote"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			check(t, Extract("x", slices.Values(tc.turns)), recalls, tc.want...)
		})
	}
}

func TestAtMostEightQuotes(t *testing.T) {
	var turns []Turn
	var all string
	for i := range 12 {
		name := fmt.Sprintf("identifier%cNumber", 'A'+i)
		turns = append(turns, out(name)...)
		all += name + " "
	}
	tr := Extract("x", slices.Values(slices.Concat(turns, idle(4), say(all))))
	if n := tr.Count()[Quote]; n != maxQuotes {
		t.Errorf("%d quotes", n)
	}
}

// Where a quote is in its item: in the part that has the string.
func TestQuotePart(t *testing.T) {
	tr := Extract("x", slices.Values(slices.Concat(
		[]Turn{{Role: Assistant, Text: "look"}, {Role: Result, Text: filler(900) + "someIdentifier\n" + filler(97)}},
		idle(4), say("someIdentifier"),
	)))
	for _, r := range tr.Refs {
		if r.Kind == Quote {
			if r.From < 898 || r.To > 906 || r.To <= r.From {
				t.Errorf("at %d to %d of %d", r.From, r.To, r.Size)
			}
			return
		}
	}
	t.Error("no quote")
}

func TestExtractTwice(t *testing.T) {
	turns := slices.Concat(out("someIdentifier", "a/path/b.go"), read("a", "/f", 1, 0, filler(90)), idle(5), say("someIdentifier a/path/b.go"), edit("/f", "abc"))
	if a, b := Extract("x", slices.Values(turns)), Extract("x", slices.Values(turns)); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v and %+v", a, b)
	}
	if tr := Extract("x", slices.Values([]Turn(nil))); len(tr.Refs) != 0 || tr.Items != 0 {
		t.Errorf("nothing gives %+v", tr)
	}
}
