package main

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxdb/engine"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/fuzz/trial"
)

// fileRecall is a call on a file of which an older result is cold. What is looked
// for is told by its kind, the file's name and what the model said before the call.
type fileRecall struct {
	text   string
	before int // turns that there were
	answer int // by index, the newest older result
}

func isRecallable(t *engine.Turn) bool {
	return t.Role == "tool_result" && t.Tokens >= 50 || t.Role != engine.RoleMeta && t.Tokens >= 100
}

const stillInView = 16 // turns: four steps and more

// fileRecalls finds the reads and edits of what was read or written long before.
func fileRecalls(turns []engine.Turn) (all []fileRecall) {
	latest := map[string]int{}
	said := ""
	for i := range turns {
		t := &turns[i]
		file := ""
		if len(t.Entities) > 0 && strings.Contains(t.Entities[0], "/") && !strings.ContainsAny(t.Entities[0], " \n") {
			file = t.Entities[0]
		}
		switch {
		case t.Role == "assistant":
			said = string(t.Content[:min(len(t.Content), 500)])
		case t.Role == "tool_call" && file != "":
			if at, was := latest[file]; was && at < i-stillInView {
				all = append(all, fileRecall{text: "tool_result " + path.Base(file) + " " + said, before: i - stillInView, answer: at})
			}
		case t.Role == "tool_result" && file != "" && isRecallable(t):
			latest[file] = i
		case t.Role == "user":
			said = ""
		}
	}
	return all
}

// TestHandlesOfRecalls looks for the turn that a recall needs, the newest result
// that is a copy of the file, by nothing but a line for each cold turn: its handle,
// or its first 160 bytes. Turns are those that a recall can mean: results of 50
// tokens and more, anything else of 100 and more.
func TestHandlesOfRecalls(t *testing.T) {
	if trial.Race {
		t.Skip("measures, in one goroutine")
	}
	var all, handle1, handle3, first1, first3 int
	for _, session := range sessionFiles(t, genuine...) {
		file := filepath.Join(t.TempDir(), "a.ctxdb")
		must(t, "import", file, session)
		db, err := engine.Open(file, &engine.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var turns []engine.Turn
		var ids []engine.TurnID
		for turn, err := range db.Turns(0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if turn.Role != engine.RoleMeta {
				turns, ids = append(turns, turn), append(ids, turn.ID)
			}
		}
		recalls := fileRecalls(turns)
		if len(recalls) > 0 {
			handles, err := db.Handles(t.Context(), ids)
			if err != nil || len(handles) != len(ids) {
				t.Fatal(len(handles), err)
			}
			var lines, firsts []string
			for i := range turns {
				line, first := "", ""
				if isRecallable(&turns[i]) {
					line = handles[i].String()
					first = firstWords(string(turns[i].Content[:min(len(turns[i].Content), 160)]), 160)
				}
				lines, firsts = append(lines, line), append(firsts, first)
			}
			all += len(recalls)
			a, b := singledOut(t, lines, recalls)
			c, d := singledOut(t, firsts, recalls)
			handle1, handle3, first1, first3 = handle1+a, handle3+b, first1+c, first3+d
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d recalls of files: handles rank 1 %d, rank 3 %d; first 160 bytes rank 1 %d, rank 3 %d", all, handle1, handle3, first1, first3)
	if all == 0 || handle1 < 2*first1 || handle3 < 2*first3 {
		t.Error("handles are not clearly better")
	}
}

// singledOut counts for how many recalls the right line is the first, and among
// the first three, of those that were there.
func singledOut(t *testing.T, lines []string, recalls []fileRecall) (first, three int) {
	t.Helper()
	var a lex.Analyzer
	m := rank.NewMemory()
	next := 0
	for _, r := range recalls {
		for ; next < r.before; next++ {
			m.Add(rank.Turn{Doc: a.Turn(nil, lex.Input{Content: []byte(lines[next])})})
		}
		hits, err := rank.Plain.Search([]rank.Part{m.View()}, lex.Parse(r.text, &a), rank.Filter{}, 3)
		if err != nil {
			t.Fatal(err)
		}
		place := slices.IndexFunc(hits, func(h rank.Hit) bool { return int(h.Ordinal) == r.answer })
		if place == 0 {
			first++
		}
		if place >= 0 {
			three++
		}
	}
	return first, three
}
