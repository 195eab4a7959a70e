package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/fuzz/trial"
)

// asking is a question and the turns, by index, that answer it.
type asking struct {
	text     string
	evidence []int
}

// locomo reads the conversations of the benchmark as turns, with the questions
// that have an answer.
func locomo(t *testing.T) (talks [][]Turn, questions [][]asking) {
	data, err := os.ReadFile(filepath.Join(trial.Data(t), "locomo", "locomo5-dev.json"))
	if err != nil {
		t.Skip("no locomo: ", err)
	}
	var samples []struct {
		Conversation map[string]json.RawMessage
		QA           []struct {
			Question string
			Evidence []string
			Category int
		}
	}
	if err := json.Unmarshal(data, &samples); err != nil {
		t.Fatal(err)
	}
	dia := regexp.MustCompile(`D\d+:\d+`)
	for n, sample := range samples {
		var turns []Turn
		at := map[string]int{}
		for s := 1; s < 100; s++ {
			key := fmt.Sprintf("session_%d", s)
			var raw []struct {
				Speaker, Text string
				ID            string `json:"dia_id"`
				Caption       string `json:"blip_caption"`
			}
			var when string
			if json.Unmarshal(sample.Conversation[key], &raw) != nil || json.Unmarshal(sample.Conversation[key+"_date_time"], &when) != nil {
				continue
			}
			start, err := time.Parse("3:04 pm on 2 January, 2006", when)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range raw {
				text := r.Text
				if r.Caption != "" {
					text += " [image: " + r.Caption + "]"
				}
				at[r.ID] = len(turns)
				turns = append(turns, Turn{Thread: fmt.Sprint("talk ", n), Role: r.Speaker, Time: start, Content: []byte(text)})
			}
		}
		var asks []asking
		for _, q := range sample.QA {
			var evidence []int
			for _, id := range dia.FindAllString(strings.Join(q.Evidence, " "), -1) {
				if i, ok := at[id]; ok {
					evidence = append(evidence, i)
				}
			}
			if q.Category <= 4 && len(evidence) > 0 {
				asks = append(asks, asking{q.Question, evidence})
			}
		}
		talks, questions = append(talks, turns), append(questions, asks)
	}
	return talks, questions
}

// score says how often a right line was first, and among the first three.
type score struct{ first, three, all int }

func (s score) String() string {
	return fmt.Sprintf("rank 1 %.3f, rank 3 %.3f", float64(s.first)/float64(s.all), float64(s.three)/float64(s.all))
}

// ask ranks lines, and nothing but the lines, for each question.
func ask(t *testing.T, m rank.Model, lines []string, questions []asking, into *score) {
	t.Helper()
	var a lex.Analyzer
	index := rank.NewMemory()
	for _, line := range lines {
		index.Add(rank.Turn{Doc: a.Turn(nil, lex.Input{Content: []byte(line)})})
	}
	for _, q := range questions {
		hits, err := m.Search([]rank.Part{index.View()}, lex.Parse(q.text, &a), rank.Filter{}, 3)
		if err != nil {
			t.Fatal(err)
		}
		into.all++
		for place, h := range hits {
			if slices.Contains(q.evidence, int(h.Ordinal)) {
				into.three++
				if place == 0 {
					into.first++
				}
				break
			}
		}
	}
}

// firstBytes is the summary that a program without ideas makes.
func firstBytes(content []byte) string { return clip(content, 160) }

// lines are the handles of all turns of a conversation in a file of its own,
// and their first 160 bytes.
func lines(t *testing.T, turns []Turn) (handles, firsts []string) {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
	ids := appendTurns(t, db, turns...)
	all, err := db.Handles(ctx, ids)
	if err != nil || len(all) != len(turns) {
		t.Fatalf("%d handles of %d turns, %v", len(all), len(turns), err)
	}
	for i, h := range all {
		handles = append(handles, h.String())
		firsts = append(firsts, firstBytes(turns[i].Content))
		if len(handles[i]) > HandleBytes {
			t.Fatalf("%d bytes: %s", len(handles[i]), handles[i])
		}
	}
	return handles, firsts
}

// TestHandlesOnLoCoMo: the lines alone must single out the turns that answer
// more often than the turns' first 160 bytes do.
func TestHandlesOnLoCoMo(t *testing.T) {
	talks, questions := locomo(t)
	for name, model := range map[string]rank.Model{"plain": rank.Plain, "default": rank.Default} {
		var byHandle, byFirst score
		for i, turns := range talks {
			handles, firsts := lines(t, turns)
			ask(t, model, handles, questions[i], &byHandle)
			ask(t, model, firsts, questions[i], &byFirst)
			if i == 0 && testing.Verbose() && name == "plain" {
				t.Log("\n" + strings.Join(handles[20:30], "\n"))
			}
		}
		t.Logf("%s model, %d questions: handles %v; first 160 bytes %v", name, byHandle.all, byHandle, byFirst)
		if byHandle.first <= byFirst.first || byHandle.three <= byFirst.three {
			t.Errorf("handles are no better")
		}
	}
}
