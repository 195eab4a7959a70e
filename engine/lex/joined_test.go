package lex

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestJoinedWords(t *testing.T) {
	for question, want := range map[string][]string{
		"The work tree":                    {"thework", "worktree"},
		"a back-up?":                       {"aback", "backup"},
		"(road\ntrip)":                     {"roadtrip"},
		"python 3 7":                       {"python3"},
		"sail, boat. Ann's boat":           nil,
		"one":                              nil,
		"":                                 nil,
		"see a/b c":                        nil,
		"Größe Maß":                        {"größemaß"},
		strings.Repeat("x", 60) + " much":  {strings.Repeat("x", 60) + "much"},
		strings.Repeat("x", 60) + " large": nil,
	} {
		var terms []QueryTerm
		for _, word := range want {
			terms = append(terms, QueryTerm{WordTerm(word), 1})
		}
		if got := Parse(question, nil).Joined; !slices.Equal(got, terms) {
			t.Errorf("%q: %v, want %q", question, joined(question), want)
		}
	}
	if got := Parse("a worktree is a work tree, a work tree", nil).Joined; slices.Contains(got, QueryTerm{WordTerm("worktree"), 1}) {
		t.Error("a word of the question is asked for twice")
	}
	if got := len(Parse(strings.Repeat("tick tock ", 500), nil).Joined); got != 2 {
		t.Errorf("%d pairs of two words", got)
	}
	var long strings.Builder
	for i := range 500 {
		fmt.Fprintf(&long, "w%dw ", i)
	}
	if got := len(Parse(long.String(), nil).Joined); got != maxJoined {
		t.Errorf("%d pairs of a long text", got)
	}
}
