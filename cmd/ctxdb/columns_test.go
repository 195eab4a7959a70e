package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFirstWords(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"", 10, ""},
		{"ten letter", 10, "ten letter"},
		{"ten letters", 10, "ten lette…"},
		{" many\n\n lines\tand tabs ", 40, "many lines and tabs"},
		{"\x1b[2Jgone", 40, `\x1b[2Jgone`},
		{"bell\a and \x7f and \u009b", 40, `bell\x07 and \x7f and \u009b`},
		{"evil \u202egnp.exe", 40, `evil \u202egnp.exe`},
		{"not \xff\xfe text", 40, `not \xff\xfe text`},
		{"畑に水が", 8, "畑に水が"},
		{"畑に水がある", 8, "畑に水…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
	} {
		if got := firstWords(c.text, c.columns); got != c.want {
			t.Errorf("firstWords(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// TestFirstWordsOfMuch holds every cut to its width, also where the text is cut before it
// is looked at.
func TestFirstWordsOfMuch(t *testing.T) {
	for _, unit := range []string{"a", "word ", "水", "\x1b", "\xff", "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nx"} {
		text := strings.Repeat(unit, 5000)
		for columns := 1; columns < 200; columns++ {
			got := firstWords(text, columns)
			width := 0
			for _, r := range got {
				width += runeWidth(r)
			}
			if width > columns || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
				t.Fatalf("%q in %d columns: %q takes %d", unit, columns, got, width)
			}
		}
	}
}
