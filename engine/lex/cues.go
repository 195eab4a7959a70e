package lex

import "strings"

// Cue is a kind of thing that a turn mentions, or that a question asks for.
type Cue uint8

// What a turn mentions or a question asks for.
const (
	CueTime     Cue = 1 << iota // a time: yesterday, May, Friday, 2023, ago
	CueName                     // a name inside a sentence: a capital letter
	CueNumber                   // a number or a number word
	CueReason                   // because, since, reason
	CueQuestion                 // a turn that asks
)

var timeWords = setOf(`yesterday today tonight tomorrow ago last next weekend week month year day night morning
 afternoon evening monday tuesday wednesday thursday friday saturday sunday january february march april june july
 august september october november december jan feb mar apr jun jul aug sep sept oct nov dec recently earlier later
 soon summer winter spring autumn fall christmas easter birthday anniversary o'clock noon midnight days weeks months
 years hours minutes upcoming since until before after`)

var numberWords = setOf(`one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
 thousand million once twice dozen couple several first second third`)

var reasonWords = setOf(`because reason since so that's why due thanks motivated inspired decided`)

// cueOf tells what a lower-case word mentions.
func cueOf(w []byte) Cue {
	var c Cue
	if timeWords[string(w)] || len(w) == 4 && isYear(w) {
		c |= CueTime
	}
	if w[0] >= '0' && w[0] <= '9' || numberWords[string(w)] {
		c |= CueNumber
	}
	if reasonWords[string(w)] {
		c |= CueReason
	}
	return c
}

func isYear(w []byte) bool {
	return (w[0] == '1' && w[1] == '9' || w[0] == '2' && w[1] == '0') && w[2] >= '0' && w[2] <= '9' && w[3] >= '0' && w[3] <= '9'
}

// asks tells what a question's first words ask for.
func asks(question string) Cue {
	q := " " + fold(question)
	var c Cue
	switch {
	case containsAny(q, " when ", " how long", " what year", " what month", " what date", " what day", " what time", " which year", " which month", " how old"):
		c |= CueTime
	case containsAny(q, " who ", " whom ", " whose ", " where ", " which ", " what is the name"):
		c |= CueName
	case containsAny(q, " how many ", " how much ", " how often "):
		c |= CueNumber
	case containsAny(q, " why ", " how come "):
		c |= CueReason
	}
	return c
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}
