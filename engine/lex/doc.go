// Package lex finds out what a turn, or a question, is about.
//
// An [Analyzer] reads a turn and gives a [Doc]: its terms with their counts, its
// length, and what kinds of things it mentions. [Parse] reads a question and gives
// a [Query]: terms with weights, neighbouring words as one, names, quoted phrases,
// spans of time, and what is asked for. A [Term] is a hash; the text behind it is not kept.
//
// What becomes a term:
//
//   - A word, lower case, irregular forms brought back to their base, then stemmed
//     (Snowball English, by github.com/blevesearch/snowballstem). About 110 function words
//     are left out.
//   - Text in other scripts, cut by Unicode's word boundaries (UAX 29, by
//     github.com/clipperhouse/uax29); runs of Han, Kana and other scripts written
//     without spaces as pairs of neighbouring characters.
//   - An identifier, whole and in its parts: readOldTurns and read_old_turns both
//     have read, old and turn.
//   - A path or another compound (a/b.go, engine.Open, v1.2.3), whole, in its
//     last element, and in its words.
//   - A number. Line numbers that tools put before each line are left out.
//
// Content that is JSON is decoded first: strings are unescaped, structural members
// ("type", "id", "signature" ...) are dropped, whatever the caller's format.
//
// Work is bounded: of a turn beyond [MaxTurnBytes] both ends and evenly spaced
// samples are read, and no turn has more than [MaxTurnTerms] terms. Nothing fails:
// every input has terms, or none.
package lex
