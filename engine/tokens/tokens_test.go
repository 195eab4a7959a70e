package tokens

import (
	"strings"
	"testing"
)

// TestKnownCounts: counts published with the vocabularies' own library.
func TestKnownCounts(t *testing.T) {
	for _, c := range []struct {
		text      string
		cl, o200k int
	}{{"", 0, 0}, {"hello world", 2, 2}, {"tiktoken is great!", 6, 6}, {"antidisestablishmentarianism", 6, 6}, {"2 + 2 = 4", 7, 7}} {
		if got := CL100K()([]byte(c.text)); got != c.cl {
			t.Errorf("cl100k of %q: %d, want %d", c.text, got, c.cl)
		}
		if got := O200K()([]byte(c.text)); got != c.o200k {
			t.Errorf("o200k of %q: %d, want %d", c.text, got, c.o200k)
		}
	}
}

// TestChunks: a long text counts for what its pieces count, to within a token a cut.
func TestChunks(t *testing.T) {
	count := CL100K()
	line := "The harbour was quiet, and the lanterns burned low.\n"
	one := count([]byte(line))
	if got := count([]byte(strings.Repeat(line, 4000))); got != 4000*one {
		t.Errorf("4000 lines of %d tokens count %d", one, got)
	}
	for _, text := range []string{strings.Repeat("x", 200_000), strings.Repeat("größer", 20_000), strings.Repeat("\xff", 100_000), strings.Repeat("word ", 30_000)} {
		if got := count([]byte(text)); got == 0 || got > len(text) {
			t.Errorf("%d tokens of %d bytes of %q...", got, len(text), text[:8])
		}
	}
}
