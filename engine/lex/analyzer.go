package lex

import "bytes"

const (
	// MaxTurnBytes is how much of a turn's content is read for terms.
	MaxTurnBytes = 256 << 10
	// MaxTurnTerms is how many different terms a turn has at most.
	MaxTurnTerms = 1 << 13

	sampleBytes = 4 << 10
)

// TermCount is a term and how often a turn has it.
type TermCount struct {
	Term  Term
	Count int
}

// Doc is what a turn is about.
type Doc struct {
	Terms  []TermCount // each once, in the order in which they were said first
	Length int         // in words, function words included
	Cues   Cue
}

// Input is what is known of a turn.
type Input struct {
	Content  []byte
	Summary  string
	Entities []string // paths, commands, names: each counts as if it were said twice more
	Tags     []string
}

// Analyzer reads turns. It keeps memory between them, and is not safe for
// concurrent use. The zero value is ready to use.
type Analyzer struct {
	counts    tally
	short     packedWords
	known     map[string]known // words that are not short, or not ASCII
	length    int
	cues      Cue
	lower     []byte
	scratch   []byte
	plainJSON [maxNested + 1][]byte // unescaped strings, by how deep they are
	functions func(word []byte)     // gets the function words that are left out
	observe   func(k kind, t Term)  // gets each term as it is found
	spoken    func(run []byte)      // gets what stands between white space, instead of its terms
	inside    bool                  // of a sentence, not at its first word
}

// Turn analyses a turn. The terms of the result are in dst's memory where it
// has room.
func (a *Analyzer) Turn(dst []TermCount, in Input) Doc {
	a.reset()
	forSamples(in.Content, a.content)
	length := a.length
	a.text([]byte(in.Summary))
	for _, entity := range in.Entities {
		a.text([]byte(entity))
		a.text([]byte(entity))
	}
	for _, tag := range in.Tags {
		a.text([]byte(tag))
		a.emit(kindTag, []byte(tag))
	}
	doc := Doc{Length: length, Cues: a.cues}
	if asksSomething(in.Content) {
		doc.Cues |= CueQuestion
	}
	doc.Terms = a.counts.appendTo(dst[:0])
	return doc
}

func (a *Analyzer) reset() {
	a.counts.reset()
	a.length, a.cues = 0, 0
}

// forSamples hands out the content, or of a long one both ends and samples
// between them at even distances.
func forSamples(content []byte, yield func([]byte)) {
	if len(content) <= MaxTurnBytes {
		yield(content)
		return
	}
	const end = MaxTurnBytes / 4
	yield(content[:end])
	samples := MaxTurnBytes / 2 / sampleBytes
	middle := len(content) - 2*end - sampleBytes
	for i := range samples {
		at := end + int(int64(middle)*int64(i)/int64(samples))
		yield(content[at : at+sampleBytes])
	}
	yield(content[len(content)-end:])
}

// content reads text, or JSON by its strings.
func (a *Analyzer) content(s []byte) {
	if trimmed := bytes.TrimLeft(s, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && looksLikeJSON(trimmed) {
		a.json(trimmed, 0)
		return
	}
	a.text(s)
}

// asksSomething is true where the last sentence is a question.
func asksSomething(content []byte) bool {
	end := bytes.TrimRight(content[max(0, len(content)-200):], " \t\r\n\"')*_")
	return bytes.HasSuffix(end, []byte("?")) || bytes.HasSuffix(end, []byte("？"))
}

// mentions notes a capital letter inside a sentence, where it marks a name.
func (a *Analyzer) mentions() {
	if a.inside {
		a.cues |= CueName
	}
}

func (a *Analyzer) emitFolded(k kind, s []byte) {
	a.lower = appendLower(a.lower[:0], s)
	a.emit(k, a.lower)
}

// emit counts a normalised string.
func (a *Analyzer) emit(k kind, s []byte) {
	var t Term
	t, a.scratch = termOf(k, s, a.scratch)
	a.count(k, t)
}

func (a *Analyzer) count(k kind, t Term) {
	if a.observe != nil {
		a.observe(k, t)
	}
	a.counts.add(t)
}
