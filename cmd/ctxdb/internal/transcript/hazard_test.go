package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// said makes a line of Claude Code without its newline.
func said(uuid, text string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":"s","uuid":%q,"message":{"role":"user","content":%q}}`, uuid, text)
}

// TestOddBytes is about how records stand in a file: each row says what becomes of it.
func TestOddBytes(t *testing.T) {
	a, b, c := said("a", "one"), said("b", "two"), said("c", "three")
	cut := a[:len(a)-9]
	for _, row := range []struct {
		name, in string
		keys     string // without the stream; "!" marks unreadable ones, "." the tail
		leftOut  string // line@offset+bytes, "-" when not kept
	}{
		{"usual", a + "\n" + b + "\n", "a b", ""},
		{"no final newline", a + "\n" + b, "a b .", ""},
		{"CRLF", a + "\r\n" + b + "\r\n", "a b .", ""},
		{"blank lines", "\n\n" + a + "\n\n\n" + b + "\n \n", "a b .", ""},
		{"trailing spaces", a + "  \n" + b + " \t\n", "a b .", ""},
		{"byte order mark", "\xef\xbb\xbf" + a + "\n" + b + "\n", "a b", ""},
		{"mark between files", a + "\n\xef\xbb\xbf" + b + "\n", "a b", ""},
		{"two values on a line", a + b + "\n" + c + "\n", "a b c", ""},
		{"two values and a space", a + " " + b + "\n", "a b", ""},
		{"cut last line", a + "\n" + cut, "a", "2@85+75-"},
		{"cut last line, glued", a + cut, "a .", "1@84+75-"},
		{"cut last line after CRLF", a + "\r\n" + cut, "a .", "2@86+75-"},
		{"cut line in the middle", a + "\n" + cut + "\n" + b + "\n", "a ! b", "2@85+75"},
		{"cut line, then glued", a + "\n" + cut + b + "\n" + c + "\n", "a ! b c", "2@85+75"},
		{"cut line at the end of a line", a + "\n" + cut + "\n", "a !", "2@85+75"},
		{"no JSON in the middle", a + "\noops\n" + b + "\n", "a ! b", "2@85+4"},
		{"garbage behind a value", a + " oops \n" + b + "\n", "a ! b", "1@85+4"},
		{"NUL line", a + "\n\x00\x00\x00\n" + b + "\n", "a ! b", "2@85+3"},
		{"NUL before a value", a + "\n\x00\x00" + b + "\n", "a ! b", "2@85+2"},
		{"NUL at the end", a + "\n\x00\x00\x00", "a", "2@85+3-"},
		{"invalid UTF-8 outside", a + "\n\xff\xfe\n" + b + "\n", "a ! b", "2@85+2"},
		{"a control byte in a string", a + "\n{\"x\":\"\x01\"}\n", "a !", "2@85+9"},
		{"a number that may go on", a + "\n12", "a", "2@85+2-"},
		{"empty", "", "", ""},
		{"white space only", " \r\n\n", "", ""},
		{"cut first line", cut, "", "1@0+75-"},
	} {
		t.Run(row.name, func(t *testing.T) {
			turns, r := readAll(t, []byte(row.in), Options{})
			var keys []string
			for _, turn := range turns {
				key := strings.TrimPrefix(turn.Key, "s:")
				switch {
				case slices.Contains(turn.Tags, TagUnreadable):
					key = "!"
				case slices.Contains(turn.Tags, TagTail):
					key = "."
				}
				keys = append(keys, key)
			}
			if got := strings.Join(keys, " "); got != row.keys {
				t.Errorf("turns %q, want %q", got, row.keys)
			}
			leftOut := ""
			for _, l := range r.LeftOut() {
				leftOut += fmt.Sprintf("%d@%d+%d", l.Line, l.Offset, l.Bytes)
				if !l.Kept {
					leftOut += "-"
				}
			}
			if leftOut != row.leftOut {
				t.Errorf("left out %q, want %q (%v)", leftOut, row.leftOut, r.LeftOut())
			}
			if want := len(row.in); r.Offset() != int64(want) {
				t.Errorf("offset %d at the end, want %d", r.Offset(), want)
			}
		})
	}
}

// grown is a file with everything odd in it, for the tests that cut it everywhere.
func grown() []byte {
	a := said("a", "one")
	return []byte("\xef\xbb\xbf" + a + "\n" + said("b", "two") + "\r\n\n" + said("c", "three") + said("c", "again") +
		"\n" + a[:30] + "\n\x00\x00" + said("d", "four") + "  \n{\"type\":\"summary\",\"n\":12.5e3}\nnull\n" +
		a[:40] + said("e", "five") + "\n" + `[{"x":[1,2]},true]` + "\n" + strings.Replace(said("f", "?"), "?", "\u00e9\xff", 1) + "\n")
}

// TestGrowth imports a file that was cut anywhere, and then the whole of it: the store
// must hold what the whole alone gives, and export exactly both times.
func TestGrowth(t *testing.T) {
	in := grown()
	whole, _ := readAll(t, in, Options{})
	var all store // sees every cut, one after another
	for cut := range len(in) {
		turns, _ := readAll(t, in[:cut], Options{})
		var s store
		s.add(turns)
		s.add(whole)
		all.add(turns)
		if !slices.Equal(keysOf(s.turns), keysOf(whole)) {
			t.Fatalf("cut at %d: %q, want %q", cut, keysOf(s.turns), keysOf(whole))
		}
		if got := join(t, s.turns); !bytes.Equal(got, in) && cut != len(in)-1 {
			t.Fatalf("cut at %d: export differs at byte %d", cut, differAt(got, in))
		}
	}
	// The documented exception: only the final newline was added last.
	if got := join(t, all.turns); !bytes.Equal(got, in[:len(in)-1]) {
		t.Fatalf("after all cuts the export differs at byte %d", differAt(got, in))
	}
	more := slices.Concat(in, []byte(said("g", "six")+"\n"))
	turns, _ := readAll(t, more, Options{})
	all.add(turns)
	if got := join(t, all.turns); !bytes.Equal(got, more) {
		t.Fatalf("after one more record the export differs at byte %d", differAt(got, more))
	}
}

// TestSmallReads gives the input in pieces of one byte.
func TestSmallReads(t *testing.T) {
	in := grown()
	want, _ := readAll(t, in, Options{})
	r := NewReader(iotest.OneByteReader(bytes.NewReader(in)), Options{})
	var got []Turn
	for turn, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, turn)
	}
	checkTurns(t, in, got, r)
	if !slices.Equal(keysOf(got), keysOf(want)) {
		t.Errorf("%q, want %q", keysOf(got), keysOf(want))
	}
}

// TestReadError: what could not be read is no cut line, and no end of the file either.
func TestReadError(t *testing.T) {
	broken := errors.New("cable pulled")
	in := []byte(said("a", "one") + "\n" + said("b", "two") + "\n" + said("c", "three"))
	r := NewReader(io.MultiReader(bytes.NewReader(in), iotest.ErrReader(broken)), Options{})
	var keys []string
	for {
		turn, err := r.Next()
		if err == nil {
			keys = append(keys, turn.Key)
			continue
		}
		want := fmt.Sprintf("offset %d", len(in))
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %v with %s", err, broken, want)
		}
		break
	}
	if !slices.Equal(keys, []string{"s:a", "s:b"}) || len(r.LeftOut()) != 0 {
		t.Errorf("turns %q, left out %v", keys, r.LeftOut())
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, in := range []string{
		"# A diary\n\nIt rained.\n", `{"a":1}` + "\n", "[1,2,3]\n", "{\n  \"loglines\": []\n}\n",
		`{"uuid":"u","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"hi"}]}}` + "\n",
	} {
		_, err := NewReader(strings.NewReader(in), Options{}).Next()
		if !errors.Is(err, ErrUnknownFormat) {
			t.Fatalf("%q: error %v", in, err)
		}
		for _, f := range formats() {
			if !strings.Contains(err.Error(), f.name()+" (") {
				t.Errorf("%v does not say that %s was looked for", err, f.name())
			}
		}
	}
}

// TestNeverCut: long content comes out whole, up to the limit; beyond it nothing is kept.
func TestNeverCut(t *testing.T) {
	huge := strings.Repeat("0123456789abcdef", 20<<20/16)
	if turns, _ := readAll(t, []byte(said("a", huge)+"\n"), Options{}); string(turns[0].Content) != huge {
		t.Fatalf("of %d bytes, %d came out", len(huge), len(turns[0].Content))
	}
	const limit = 1 << 20
	long := strings.Repeat("0123456789abcdef", limit/32)
	tooLong := said("x", strings.Repeat("y", limit))
	in := said("a", long) + "\n" + tooLong + "\r\n" + said("b", "after") + "\n"
	turns, r := readAll(t, []byte(in), Options{MaxRecordBytes: limit})
	if len(turns) != 2 || string(turns[0].Content) != long || turns[1].Key != "s:b" {
		t.Fatalf("%d turns, %q", len(turns), keysOf(turns))
	}
	if len(r.LeftOut()) != 1 || r.LeftOut()[0].Kept || r.LeftOut()[0].Line != 2 ||
		!strings.Contains(r.LeftOut()[0].Reason, fmt.Sprint(limit)) {
		t.Errorf("left out: %+v", r.LeftOut())
	}
	if got := string(join(t, turns)); got != said("a", long)+"\n"+said("b", "after")+"\n" {
		t.Error("the rest does not join around the part that was left out")
	}
}

// TestLongLineOfShortRecords: the limit is one on records, also where they share a line.
func TestLongLineOfShortRecords(t *testing.T) {
	var in strings.Builder
	for i := range 100 {
		in.WriteString(said(fmt.Sprint(i), "short"))
	}
	for _, end := range []string{"", "\n"} {
		turns, r := readAll(t, []byte(in.String()+end), Options{MaxRecordBytes: 200})
		if len(keysOf(turns)) != 100 || len(r.LeftOut()) != 0 {
			t.Errorf("%d turns, left out %v", len(turns), r.LeftOut())
		}
	}
}

// TestCodexStream: items have ids too, but only the session's names the stream.
func TestCodexStream(t *testing.T) {
	in := `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"reasoning","id":"rs_1","summary":[]}}
{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"the-session"}}
`
	if turns, r := readAll(t, []byte(in), Options{}); r.Stream() != "the-session" || len(turns) != 2 {
		t.Errorf("stream %q, %d turns", r.Stream(), len(turns))
	}
}

// TestMemoryIsBounded reads 128 MiB and looks at the heap now and then.
func TestMemoryIsBounded(t *testing.T) {
	const wantRecords = 2048
	line := said("?", strings.Repeat("z", 64<<10)) + "\n"
	made := 0
	r := NewReader(readerFunc(func() []byte {
		if made++; made > wantRecords {
			return nil
		}
		return []byte(strings.Replace(line, "?", fmt.Sprint(made), 1))
	}), Options{})
	n := 0
	var peak uint64
	for _, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%256 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	if n != wantRecords || peak > 32<<20 {
		t.Errorf("%d turns, %d bytes of heap", n, peak)
	}
}

// readerFunc makes a Reader of a function that returns the next piece, nil at the end.
func readerFunc(next func() []byte) io.Reader {
	var rest []byte
	return funcReader(func(p []byte) (int, error) {
		if len(rest) == 0 {
			if rest = next(); rest == nil {
				return 0, io.EOF
			}
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	})
}

type funcReader func([]byte) (int, error)

func (f funcReader) Read(p []byte) (int, error) { return f(p) }

// TestLongGap: white space without end is kept in pieces, and its growth is stable.
func TestLongGap(t *testing.T) {
	gap := strings.Repeat("\n", 3*maxGapBytes+5)
	in := said("a", "one") + gap + said("b", "two") + "\n"
	turns, _ := readAll(t, []byte(in), Options{})
	if len(turns) != 5 {
		t.Fatalf("%d turns", len(turns))
	}
	var s store
	for _, cut := range []int{100, len(in) / 2, len(in) - 300, len(in)} {
		turns, _ := readAll(t, []byte(in[:cut]), Options{})
		s.add(turns)
	}
	if got := string(join(t, s.turns)); got != in {
		t.Errorf("export differs at byte %d", differAt([]byte(got), []byte(in)))
	}
}

// TestKeysAreOfContent: keys depend on what a file says, and two sessions stay apart.
func TestKeysAreOfContent(t *testing.T) {
	in, err := os.ReadFile("testdata/claude.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	turns, _ := readAll(t, in, Options{})
	crlf, _ := readAll(t, bytes.ReplaceAll(in, []byte("\n"), []byte("\r\n")), Options{})
	if !slices.Equal(keysOf(turns), keysOf(crlf)) {
		t.Error("line ends changed the keys")
	}
	other, _ := readAll(t, bytes.ReplaceAll(in, []byte("5e55-one"), []byte("5e55-two")), Options{})
	var s store
	s.add(turns)
	if added := s.add(other); added != len(other) {
		t.Errorf("%d of %d turns of another session were taken for new", added, len(other))
	}
}

// TestHostileIDs: ids cannot leave their stream, meet each other or break the key limit.
func TestHostileIDs(t *testing.T) {
	in := strings.Join([]string{
		said("a", "1"), said("a", "2"), said("a~2", "3"), said("x:y", "4"), said("h0", "5"), said("h0", "6"),
		said(strings.Repeat("u", 5000), "7"), said("\n", "8"), said("", "9"), said("", "9"),
	}, "\n") + "\n"
	for _, session := range []string{"s", "a:b~c", strings.Repeat("long", 1000), "line\\nbreak"} {
		in := strings.ReplaceAll(in, `"sessionId":"s"`, `"sessionId":"`+session+`"`)
		if turns, _ := readAll(t, []byte(in), Options{}); len(turns) != 10 {
			t.Errorf("session %.20q: %d turns", session, len(turns))
		}
	}
}
