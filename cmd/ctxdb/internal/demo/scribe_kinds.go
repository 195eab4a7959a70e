package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// ask is what the user says: a request, and for a long one what the service
// logged.
func (s *scribe) ask(tokens int) string {
	talk := min(tokens, 260)
	text := s.paragraphs(talk, asks)
	if tokens-talk > 60 {
		text += "\n\n" + compose(tokens-talk, "Here is what the service wrote during the last run:\n```\n", s.logLine, "```")
	}
	return text
}

// answer is what the assistant says: reasoning, and for a long one the code it
// talks about.
func (s *scribe) answer(tokens int) string {
	talk := min(tokens, 420)
	text := s.paragraphs(talk, thoughts)
	if tokens-talk > 80 {
		text += "\n\n" + compose(tokens-talk, "```go\n", func() string { return s.expand(s.pick(declarations)) + "\n" }, "```")
	}
	return text
}

// paragraphs takes sentences in shuffled order, so that none comes again before
// all were said.
func (s *scribe) paragraphs(tokens int, sentences []string) string {
	var order []int
	said := 0
	return compose(tokens, "", func() string {
		if len(order) == 0 {
			order = s.rng.Perm(len(sentences))
		}
		sentence := s.expand(sentences[order[0]])
		order = order[1:]
		if said++; said%4 == 0 {
			return sentence + "\n\n"
		}
		return sentence + " "
	}, "")
}

// call is a tool call in JSON. A short one reads or runs something, a long one
// edits the file.
func (s *scribe) call(kind string, tokens int) string {
	path := s.topic["path"]
	if tokens < 130 {
		return compose(tokens, fmt.Sprintf(`{"tool":%q,"path":%q,"why":"`, kind, path), func() string {
			return quoted(s.expand(s.pick(thoughts)) + " ")
		}, `"}`)
	}
	f, at := s.file(), 0
	old := compose(tokens/4, "", func() string { at++; return s.line(f, at) + "\n" }, "")
	return compose(tokens, fmt.Sprintf(`{"tool":"edit","path":%q,"old":"%s","new":"`, path, quoted(old)), func() string {
		if s.rng.IntN(3) == 0 {
			return quoted(s.expand(changes[s.rng.IntN(len(changes))][1]) + "\n")
		}
		return quoted(s.expand(s.pick(declarations)))
	}, fmt.Sprintf(`","then":%q}`, kind))
}

// quoted is a text as it stands inside a JSON string.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(b[1 : len(b)-1])
}

// result is what a tool printed.
func (s *scribe) result(kind string, tokens int) string {
	f, at := s.file(), 0
	switch kind {
	case "read":
		return compose(tokens, "", func() string { at++; return fmt.Sprintf("%6d\t%s\n", at, s.line(f, at-1)) }, "")
	case "list":
		return compose(tokens, fmt.Sprintf("total %d\n", 100+s.rng.IntN(900)), s.listLine, "")
	case "test":
		return compose(tokens, "", s.testCase, fmt.Sprintf("FAIL\tferrygate/internal/%s\t%.3fs\n", f.pkg, s.rng.Float64()*9))
	case "diff":
		head := fmt.Sprintf("diff --git a/%s b/%s\nindex %07x..%07x 100644\n--- a/%s\n+++ b/%s\n",
			f.path, f.path, s.rng.Uint32()>>4, s.rng.Uint32()>>4, f.path, f.path)
		return compose(tokens, head, func() string { at += 7 + s.rng.IntN(20); return s.hunk(f, at) }, "")
	}
	return compose(tokens, "", s.logLine, "")
}

func (s *scribe) listLine() string {
	pkg, part := s.pick(words["pkg"]), s.pick(words["part"])
	suffix := []string{"", "", "_test", "_bench_test", "_linux"}[s.rng.IntN(5)]
	return fmt.Sprintf("-rw-r--r-- 1 dev dev %6d Mar %2d %02d:%02d internal/%s/%s%s.go\n",
		300+s.rng.IntN(24000), 1+s.rng.IntN(28), s.rng.IntN(24), s.rng.IntN(60), pkg, part, suffix)
}

func (s *scribe) logLine() string {
	s.clock += time.Duration(s.rng.IntN(4000)) * time.Millisecond
	return s.expand(fmt.Sprintf("%s <level> %s harbour=%q vessel=%q <field>=<num> status=<status> trace=%08x took=%.1fms\n",
		sessionStart.Add(s.clock).Format("2006-01-02T15:04:05.000Z"), s.pick(words["event"]),
		s.pick(words["harbour"]), s.pick(words["vessel"]), s.rng.Uint32(), s.rng.ExpFloat64()*20))
}

func (s *scribe) testCase() string {
	took := s.rng.ExpFloat64() / 8
	head := s.expand("Test<type>_<verb><object>/<case>")
	if s.rng.IntN(4) > 0 {
		return fmt.Sprintf("=== RUN   %s\n    --- PASS: %s (%.2fs)\n", head, head, took)
	}
	return s.expand(fmt.Sprintf("=== RUN   %s\n    <part>_test.go:<num>: <verb><object>: got <num2> <field>, want <num3>\n"+
		"    <part>_test.go:<num4>: <pkg>: <field2> of %q is <num5>, because <reason>\n    --- FAIL: %s (%.2fs)\n",
		head, s.pick(words["vessel"]), head, took))
}

// hunk is a change of one place in the file, with the lines around it.
func (s *scribe) hunk(f *sourceFile, at int) string {
	pair := changes[s.rng.IntN(len(changes))]
	both := strings.SplitN(s.expand(pair[0]+"\x00"+pair[1]), "\x00", 2)
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%d,7 +%d,%d @@\n", at+1, at+1, 6+1+strings.Count(both[1], "\n"))
	for i := range 3 {
		fmt.Fprintf(&b, " %s\n", s.line(f, at+i))
	}
	fmt.Fprintf(&b, "-%s\n+%s\n", both[0], strings.ReplaceAll(both[1], "\n", "\n+"))
	for i := range 3 {
		fmt.Fprintf(&b, " %s\n", s.line(f, at+4+i))
	}
	return b.String()
}
