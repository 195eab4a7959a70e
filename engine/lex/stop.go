package lex

import "strings"

// functionWords carry grammar, not content. They are in nearly every turn, so
// their postings would be the longest of all and tell nothing. Words that are
// also names in code (map, type, new) are not among them.
var functionWords = setOf(`a an the and or but nor so yet if then than as at by for from in into of off on onto
 out over to up with without about above after again against all am are is be been being before below between both
 can could did do does doing done down during each few further had has have having he her here hers herself him
 himself his how i it its itself just me more most my myself no not now once only other our ours ourselves own
 same she should some such that their theirs them themselves there these they this those through too under until
 very was we were what when where which while who whom whose why will would you your yours yourself yourselves
 ve ll re d s t m don didn doesn isn wasn aren weren won wouldn couldn shouldn haven hasn hadn im also might may
 must shall let`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
