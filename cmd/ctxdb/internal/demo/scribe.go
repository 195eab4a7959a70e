package demo

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"ctxdb/engine"
)

// scribe writes the text of the session: everything it says follows from its
// random numbers.
type scribe struct {
	rng   *rand.Rand
	topic map[string]string // what the present task fixes: pkg, type, path
	files []*sourceFile     // of the invented program, in the order of their first mention
	clock time.Duration     // of the logs, since the session began
}

// sourceFile is a file of the invented program. It is written as far as
// somebody has read, so that reading it again shows the same text.
type sourceFile struct {
	path, pkg, typ string
	lines          []string
}

var placeholder = regexp.MustCompile(`<[a-z]+[0-9]?>`)

// expand fills the placeholders of a fragment. The same placeholder is filled
// alike within one fragment, unless it stands in a remark of its own.
func (s *scribe) expand(fragment string) string {
	known := map[string]string{}
	return placeholder.ReplaceAllStringFunc(fragment, func(mark string) string {
		v, ok := known[mark]
		if !ok {
			v = s.fill(mark[1 : len(mark)-1])
			known[mark] = v
		}
		return v
	})
}

// fill returns a value for a placeholder. An unknown name is a mistake in the
// corpus.
func (s *scribe) fill(name string) string {
	if v, ok := s.topic[name]; ok {
		return v
	}
	base := strings.TrimRight(name, "0123456789")
	switch base {
	case "num":
		return fmt.Sprint(1 + s.rng.IntN(10)*s.rng.IntN(40))
	case "remark":
		return s.expand(s.pick(remarks))
	}
	list := words[base]
	if list == nil {
		panic("demo: the corpus has no word for <" + name + ">")
	}
	v := s.pick(list)
	if base == "reason" || base == "aim" {
		return s.expand(v)
	}
	return v
}

func (s *scribe) pick(list []string) string { return list[s.rng.IntN(len(list))] }

// file returns the source file that the present task is about.
func (s *scribe) file() *sourceFile {
	for _, f := range s.files {
		if f.path == s.topic["path"] {
			return f
		}
	}
	f := &sourceFile{path: s.topic["path"], pkg: s.topic["pkg"], typ: s.topic["type"]}
	f.lines = []string{"package " + f.pkg, ""}
	s.files = append(s.files, f)
	return f
}

// line returns a line of the file, writing on where it ends.
func (s *scribe) line(f *sourceFile, n int) string {
	for n >= len(f.lines) {
		f.lines = append(f.lines, strings.Split(s.expand(s.pick(declarations)), "\n")...)
	}
	return f.lines[n]
}

// open begins a task: another package, or one that was worked on before.
func (s *scribe) open() {
	if len(s.files) > 2 && s.rng.IntN(3) == 0 {
		f := s.files[s.rng.IntN(len(s.files))]
		s.topic = map[string]string{"pkg": f.pkg, "type": f.typ, "path": f.path}
		return
	}
	pkg := s.pick(words["pkg"])
	s.topic = map[string]string{"pkg": pkg, "type": s.pick(words["type"]), "path": "internal/" + pkg + "/" + s.pick(words["part"]) + ".go"}
}

// compose joins pieces until the text has about the wanted number of tokens:
// it stops at the piece that brings it nearest. There is at least one piece.
func compose(tokens int, head string, next func() string, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	have := engine.EstimateTokens([]byte(head + tail))
	for first := true; ; first = false {
		piece := next()
		cost := engine.EstimateTokens([]byte(piece))
		if !first && have+cost/2 > tokens {
			break
		}
		b.WriteString(piece)
		have += cost
		if have >= tokens {
			break
		}
	}
	return b.String() + tail
}
