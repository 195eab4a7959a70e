package lex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func termsOf(t testing.TB, content string) map[Term]int {
	t.Helper()
	doc := new(Analyzer).Turn(nil, Input{Content: []byte(content)})
	counts := make(map[Term]int)
	for _, tc := range doc.Terms {
		if counts[tc.Term] != 0 {
			t.Fatalf("a term of %q comes twice", content)
		}
		counts[tc.Term] = tc.Count
	}
	return counts
}

func compound(s string) Term {
	t, _ := termOf(kindCompound, []byte(s), nil)
	return t
}

func TestWhatBecomesATerm(t *testing.T) {
	words := func(ws ...string) (terms []Term) {
		for _, w := range ws {
			terms = append(terms, WordTerm(w))
		}
		return terms
	}
	for content, want := range map[string][]Term{
		"She painted two paintings":                    words("paint", "painting", "two"),
		"we went, they've gone":                        words("go"),
		"the children's feet":                          words("child", "foot"),
		"readOldTurns(x)":                              append(words("read", "old", "turn", "x"), compound("readoldturns")),
		"read_old_turns":                               append(words("read", "old", "turns"), compound("read_old_turns")),
		"HTTPServer URLs":                              append(words("http", "server", "urls"), compound("httpserver")),
		"__init__":                                     words("init"),
		"see /src/lex/words.go:42, please":             append(words("src", "lex", "words", "go", "42"), compound("src/lex/words.go:42"), compound("words.go:42")),
		"engine.Open v1.2.3":                           append(words("engine", "open"), compound("engine.open"), compound("v1.2.3")),
		`C:\Temp\x.log`:                                append(words("temp", "log"), compound(`x.log`)),
		"panic: runtime error: index out of range [5]": words("panic", "runtime", "error", "index", "range", "5"),
		"größe naïve":                                  words("größe", "naïve"),
		"数据库引擎":                                        words("数据", "据库", "库引", "引擎", "数"),
		"Привет, мир":                                  words("привет", "мир"),
		"データ base":                                     words("デー", "ータ", "base"),
		`[{"type":"tool_use","id":"toolu_9","name":"Read","input":{"file_path":"/a/bee.go","note":"two\nlines \u00e9t\u00e9"}}]`: append(
			words("read", "bee", "two", "lines", "été"), compound("bee.go")),
		`{"arguments":"{\"cmd\":\"git status\"}"}`: words("git", "status"),
	} {
		got := termsOf(t, content)
		for i, term := range want {
			if got[term] == 0 {
				t.Errorf("%q lacks term %d", content, i)
			}
		}
	}
}

func TestWhatDoesNot(t *testing.T) {
	for content, unwanted := range map[string][]string{
		"     7→func main() {\n    8→\treturn": {"7", "8"},
		"12\tone\n13\ttwo":                     {"12", "13"},
		"it is what they have":                 {"it", "is", "what", "they", "have"},
		`{"type":"text","id":"abc","signature":"EqQBCkYI","text":"hello"}`: {"type", "text", "abc", "EqQBCkYI"},
		strings.Repeat("x", 100): {strings.Repeat("x", 100)},
	} {
		got := termsOf(t, content)
		for _, w := range unwanted {
			if got[WordTerm(w)] != 0 {
				t.Errorf("%q has the term of %q", content, w)
			}
		}
	}
	if got := termsOf(t, "waited 12 days"); got[WordTerm("12")] == 0 {
		t.Error("a number that is no line number is missing")
	}
}

func TestCues(t *testing.T) {
	for content, want := range map[string]Cue{
		"We met yesterday.":            CueTime,
		"It was in 1999.":              CueTime | CueNumber,
		"I like Ben a lot.":            CueName,
		"Nice. Really.":                0,
		"because it rains":             CueReason,
		"Is it so?":                    CueQuestion,
		"three of them":                CueNumber,
		"see \"that\"? (what do you?)": CueQuestion,
	} {
		got := new(Analyzer).Turn(nil, Input{Content: []byte(content)}).Cues
		if got&^CueReason != want&^CueReason || want&CueReason != 0 && got&CueReason == 0 {
			t.Errorf("%q mentions %05b, want %05b", content, got, want)
		}
	}
}

func TestEntitiesCountTwice(t *testing.T) {
	doc := new(Analyzer).Turn(nil, Input{Content: []byte("a look at things"), Entities: []string{"src/main.rs"}})
	for _, tc := range doc.Terms {
		if tc.Term == compound("src/main.rs") && tc.Count == 2 {
			return
		}
	}
	t.Error("the entity's path is not counted twice")
}

func TestParse(t *testing.T) {
	q := Parse(`When did Ann's "old boat" sink, in May 2023?`, nil)
	if q.Asks != CueTime {
		t.Errorf("asks for %05b", q.Asks)
	}
	if fmt.Sprint(q.Phrases) != "[old boat]" || fmt.Sprint(q.Dates) != "[{2023 May 0}]" {
		t.Errorf("phrases %q, dates %v", q.Phrases, q.Dates)
	}
	names := make(map[Term]bool)
	for _, n := range q.Names {
		names[n] = true
	}
	if !names[WordTerm("Ann")] || !names[WordTerm("did")] {
		t.Error("a word is not held against names")
	}
	for _, term := range q.Terms {
		if term.Term == WordTerm("did") {
			t.Error("a function word is asked for")
		}
	}
	for question, want := range map[string]Cue{
		"Who came?": CueName, "Where is it?": CueName, "How many are there?": CueNumber, "Why not?": CueReason,
		"How long did it take?": CueTime, "What is it?": 0, "": 0,
	} {
		if got := Parse(question, nil).Asks; got != want {
			t.Errorf("%q asks for %05b, want %05b", question, got, want)
		}
	}
}

func TestDates(t *testing.T) {
	for question, want := range map[string]string{
		"on 7 May 2023":             "[{2023 May 7}]",
		"on May 7th, 2023?":         "[{2023 May 7}]",
		"the 7th of May":            "[{0 May 7}]",
		"in june":                   "[{0 June 0}]",
		"between 2021 and Jan 2022": "[{2021 %!Month(0) 0} {2022 January 0}]",
		"2024-02-29":                "[{2024 February 29}]",
		"he may march":              "[]",
		"Aug 3000 1899":             "[{0 August 0}]",
		"last week":                 "[]",
	} {
		if got := fmt.Sprint(dates(question)); got != want {
			t.Errorf("%q: %s, want %s", question, got, want)
		}
	}
}

func TestDaysFrom(t *testing.T) {
	at := func(s string) time.Time {
		x, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		date Date
		time string
		want float64
	}{
		{Date{2023, 5, 7}, "2023-05-07 23:00", 0},
		{Date{2023, 5, 7}, "2023-05-09 00:00", 1},
		{Date{2023, 5, 7}, "2023-05-06 00:00", -1},
		{Date{2023, 5, 0}, "2023-05-31 10:00", 0},
		{Date{2023, 0, 0}, "2024-01-03 00:00", 2},
		{Date{0, 12, 31}, "2024-01-02 00:00", 1},
		{Date{0, 1, 2}, "2023-12-31 00:00", -2},
	} {
		if got := c.date.DaysFrom(at(c.time)); got != c.want {
			t.Errorf("%s is %v days from %v, want %v", c.time, got, c.date, c.want)
		}
	}
}

// TestWorkIsBounded reads a turn far beyond the limit of what is read.
func TestWorkIsBounded(t *testing.T) {
	var long bytes.Buffer
	for i := 0; long.Len() < 4<<20; i++ {
		fmt.Fprintf(&long, "word%d and more, ", i)
	}
	doc := new(Analyzer).Turn(nil, Input{Content: long.Bytes()})
	if len(doc.Terms) > MaxTurnTerms || doc.Length > MaxTurnBytes {
		t.Errorf("%d terms, %d words", len(doc.Terms), doc.Length)
	}
	if termsOf(t, long.String())[WordTerm("word0")] == 0 {
		t.Error("the beginning is not read")
	}
	read := 0
	forSamples(long.Bytes(), func(s []byte) { read += len(s) })
	if read > MaxTurnBytes+2*sampleBytes {
		t.Errorf("%d bytes are read", read)
	}
}

func TestReuseChangesNothing(t *testing.T) {
	a := new(Analyzer)
	first := fmt.Sprint(a.Turn(nil, Input{Content: []byte("One Two two?")}))
	a.Turn(nil, Input{Content: []byte(strings.Repeat("many different words here 1 2 3 ", 3000))})
	if again := fmt.Sprint(a.Turn(nil, Input{Content: []byte("One Two two?")})); again != first {
		t.Errorf("%s became %s", first, again)
	}
	Parse("what about two?", a)
	if again := fmt.Sprint(a.Turn(nil, Input{Content: []byte("One Two two?")})); again != first {
		t.Errorf("after a question %s became %s", first, again)
	}
}

func FuzzTurn(f *testing.F) {
	for _, s := range []string{
		"hello World", `{"a":"b\u00e9\ud83d\ude00"}`, `[{"type":"text","text":"x"`, "日本語 text→more", "a/b.c-d:e@f\\g", "\xff\xfe",
		`{"a":"[{\"b\":\"c\"}]"}`,
	} {
		f.Add([]byte(s))
	}
	a := new(Analyzer)
	f.Fuzz(func(t *testing.T, content []byte) {
		doc := a.Turn(nil, Input{Content: content})
		if len(doc.Terms) > 4*len(content)+4 {
			t.Fatalf("%d terms of %d bytes", len(doc.Terms), len(content))
		}
		fresh := new(Analyzer).Turn(nil, Input{Content: content})
		if fmt.Sprint(fresh) != fmt.Sprint(doc) {
			t.Fatal("an analyzer that was used before reads something else")
		}
		Parse(string(content), nil)
	})
}

// TestJSONIsItsText holds the lenient reader to encoding/json: the strings of
// valid JSON give the terms that their text gives.
func TestJSONIsItsText(t *testing.T) {
	for _, text := range []string{"plain words", "line\nbreak\tand \"quotes\" \\ back", "smile \U0001F600 été", "a/b/c.go </b>"} {
		raw, err := json.Marshal(map[string]any{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(termsOf(t, string(raw))), fmt.Sprint(termsOf(t, text)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestHasPhrases(t *testing.T) {
	for _, c := range []struct {
		content string
		phrases []string
		want    bool
	}{
		{"the Old  Boat\n\tsank", []string{"old boat sank"}, true},
		{"the old boat", []string{"old boat", "the"}, true},
		{"the old boat", []string{"old boat", "ship"}, false},
		{"old, boat", []string{"old boat"}, false},
		{`{"text":"it said \"no\"\nand l\u00e9t go"}`, []string{"\"no\" and lét"}, true},
		{`C:\temp\new`, []string{`c:\temp`}, true},
		{"it’s", []string{"it's"}, true},
		{"", []string{"x"}, false},
		{"", nil, true},
	} {
		if got := HasPhrases([]byte(c.content), c.phrases); got != c.want {
			t.Errorf("%q in %q: %v", c.phrases, c.content, got)
		}
	}
}
