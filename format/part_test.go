package format

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// someContent draws bytes with few or many line ends, in ASCII, in longer
// UTF-8, or in no encoding at all.
func someContent(t *rapid.T) []byte {
	words := [][]string{
		{"plain words ", "x", "\n"},
		{"plain words without an end "},
		{"é", "世", "😀", "a"},
		{"😀"},
		{"世界\n", "ü"},
		{"\x80", "\xBF\xBF\xBF\xBF\xBF", "\xFF", "a\n"},
	}
	set := rapid.SampledFrom(words).Draw(t, "alphabet")
	var b bytes.Buffer
	b.WriteString(strings.Repeat("p", rapid.IntRange(0, 3).Draw(t, "shift")))
	for n := rapid.IntRange(0, 30_000).Draw(t, "size"); b.Len() < n; {
		w := rapid.SampledFrom(set).Draw(t, "word")
		b.WriteString(strings.Repeat(w, rapid.IntRange(1, 3000).Draw(t, "times")))
	}
	return b.Bytes()
}

func cutParts(content []byte) (parts [][]byte) {
	for {
		n := PartEnd(content)
		parts = append(parts, content[:n])
		if n == len(content) {
			return parts
		}
		content = content[n:]
	}
}

func TestPartsRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := someContent(t)
		parts := cutParts(content)
		if !bytes.Equal(bytes.Join(parts, nil), content) {
			t.Fatal("the parts are not the content")
		}
		if len(parts) != Parts(content) {
			t.Fatalf("%d parts, Parts says %d", len(parts), Parts(content))
		}
		rest := content
		for i, part := range parts {
			checkPart(t, rest, part, i == len(parts)-1)
			rest = rest[len(part):]
		}
	})
}

// checkPart holds the first part of content against the words of SPEC.md.
func checkPart(t *rapid.T, content, part []byte, last bool) {
	n := len(part)
	if last {
		if len(content) > 5120 {
			t.Fatalf("%d bytes are one part", n)
		}
		return
	}
	if n < 2049 || n > 4096 || len(content) <= 5120 {
		t.Fatalf("a part of %d of %d bytes", n, len(content))
	}
	if end := bytes.LastIndexByte(content[:4096], '\n'); end >= 2048 {
		if n != end+1 {
			t.Fatalf("cut at %d, the last line ends at %d", n, end+1)
		}
		return
	}
	if n < 4093 {
		t.Fatalf("cut at %d without a line end", n)
	}
	if utf8.Valid(content) && !(utf8.Valid(part) && utf8.Valid(content[n:])) {
		t.Fatalf("cut at %d within a character", n)
	}
	if n < 4096 && utf8.RuneStart(content[4096]) {
		t.Fatalf("cut at %d, though a character starts at 4096", n)
	}
	// Only what can be seen from the front decides: more content behind it, and
	// the same content elsewhere, are cut at the same place.
	for _, more := range [][]byte{content[:5121], append(bytes.Clone(content), "\nand more\n"...), append(content[:5121:5121], bytes.Repeat([]byte("\n"), 9000)...)} {
		if PartEnd(more) != n {
			t.Fatalf("cut at %d, and at %d in another length", n, PartEnd(more))
		}
	}
}

func TestPartEnd(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		name, content string
		want          int
	}{
		{"empty", "", 0},
		{"one byte", "a", 1},
		{"the longest single part", a(5120), 5120},
		{"one more", a(5121), 4096},
		{"line end too early", a(2047) + "\n" + a(4000), 4096},
		{"first line end that counts", a(2048) + "\n" + a(4000), 2049},
		{"last line end that counts", a(2048) + "\n" + a(2046) + "\n" + a(4000), 4096},
		{"line end too late", a(4096) + "\n" + a(4000), 4096},
		{"character ends at 4096", a(4093) + "世" + a(4000), 4096},
		{"character over 4096", a(4094) + "世" + a(4000), 4094},
		{"longest character over 4096", a(4093) + "😀" + a(4000), 4093},
		{"no character at all", strings.Repeat("\x80", 6000), 4096},
		{"CR LF", a(3000) + "\r\n" + a(4000), 3002},
	} {
		if got := PartEnd([]byte(c.content)); got != c.want {
			t.Errorf("%s: cut at %d, want %d", c.name, got, c.want)
		}
	}
}
