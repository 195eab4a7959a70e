package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/fuzz/trial"
)

var ctx = context.Background()

// sample is a conversation of our own in the benchmark's form.
const sample = `[{"sample_id":"own","conversation":{"speaker_a":"Ada","speaker_b":"Bo",
"session_10_date_time":"9:05 am on 3 March, 2024","session_10":[{"speaker":"Bo","dia_id":"D10:1","text":"The kayak leaks again."}],
"session_2_date_time":"1:56 pm on 8 May, 2023","session_2":[
 {"speaker":"Ada","dia_id":"D2:1","text":"What did you buy?"},
 {"speaker":"Bo","dia_id":"D2:2","text":"A green kayak!","blip_caption":"a boat on a roof"}],
"session_3_date_time":"1:00 pm on 9 May, 2023"},
"qa":[{"question":"What did Bo buy?","answer":"a kayak","evidence":["D2:2; D02:01","D"],"category":4},
{"question":"What leaks?","answer":1,"evidence":["D10:1"],"category":1},
{"question":"Trick?","adversarial_answer":"x","evidence":["D2:1"],"category":5},
{"question":"Nothing?","answer":"x","evidence":["D9:9"],"category":2}]}]`

func write(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "own.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReadLoCoMo(t *testing.T) {
	all, err := readLoCoMo(filepath.Join(write(t, sample), "own.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := all[0]
	if len(c.turns) != 3 || c.turns[2].id != "D10:1" || !strings.Contains(c.turns[1].text, "boat on a roof") {
		t.Errorf("turns %+v", c.turns)
	}
	if len(c.questions) != 2 || len(c.questions[0].evidence) != 2 || c.questions[0].evidence[0] != 1 || c.questions[1].evidence[0] != 2 {
		t.Errorf("questions %+v", c.questions)
	}
	if got := c.turns[0].time.Format("2006-01-02 15:04"); got != "2023-05-08 13:56" {
		t.Errorf("time %s", got)
	}
}

func TestPack(t *testing.T) {
	c := &conversation{turns: []turn{{tokens: 5}, {tokens: 9}, {tokens: 4}}, tokens: 18}
	q := &question{evidence: []int{0, 1}}
	taken := pack(c, []int{0, 1, 2}, 9)
	if !taken[0] || taken[1] || !taken[2] {
		t.Errorf("took %v", taken)
	}
	if got := recallOf(q, taken); got != 0.5 {
		t.Errorf("recall %v", got)
	}
	if !hits(q, []int{2, 1}, 2) || hits(q, []int{2, 1}, 1) {
		t.Error("hits")
	}
}

func TestRun(t *testing.T) {
	dir := write(t, sample)
	csvPath, plotPath := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.svg")
	var out bytes.Buffer
	if err := run(ctx, &out, dir, "own.json", "all", model{}, csvPath, plotPath); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 questions", "+ speaker named", "single-hop (1 questions)", "R@5 1.000", "paired bootstrap"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	for path, want := range map[string]string{csvPath: "BM25,all,0.50", plotPath: "<polyline"} {
		if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s lacks %q, err %v", filepath.Base(path), want, err)
		}
	}
	if err := run(ctx, &out, dir, "own.json", "some", model{}, "", ""); err == nil {
		t.Error("an unknown split is no error")
	}
	if err := run(ctx, &out, dir, "absent.json", "all", model{}, "", ""); err == nil {
		t.Error("an absent file is no error")
	}
}

// TestRunWithModel: the same by vectors, and by words and vectors. The model here
// knows that what leaks is wet.
func TestRunWithModel(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		var data []map[string]any
		for i, text := range q.Input {
			v := []float32{0.1, 0.1, 0.1}
			for j, word := range []string{"leak", "buy", "green"} {
				if strings.Contains(text, word) {
					v[j]++
				}
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer s.Close()
	dir := write(t, sample)
	var out bytes.Buffer
	if err := run(ctx, &out, dir, "own.json", "all", model{url: s.URL, name: "tiny"}, "", ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"vectors by tiny", "vectors alone", "by category, words and vectors", "R@5 1.000"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if err := run(ctx, &out, dir, "own.json", "all", model{url: s.URL}, "", ""); err == nil {
		t.Error("no model is no error")
	}
	s.Close()
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := run(stopped, &out, dir, "own.json", "all", model{url: s.URL, name: "tiny"}, "", ""); err == nil {
		t.Error("a server that is gone is no error")
	}
}

// TestFigures holds the default to what it reached on the conversations that
// it was chosen on, and on all five; the floor leaves room for a question or two.
func TestFigures(t *testing.T) {
	path := benchmark(t)
	conversations, err := readLoCoMo(path)
	if err != nil {
		t.Fatal(err)
	}
	list := settings()
	last := list[len(list)-1]
	for _, c := range []struct {
		n          int
		floor      [3]float64 // at 2, 4 and 10 % of the tokens
		hit1, hit5 float64
	}{
		{3, [3]float64{0.81, 0.855, 0.905}, 0.52, 0.82},
		{5, [3]float64{0.805, 0.845, 0.90}, 0.51, 0.80},
	} {
		r, err := measure(last, conversations[:c.n])
		if err != nil {
			t.Fatal(err)
		}
		n := float64(r.all.questions)
		for i, floor := range c.floor {
			if got := r.all.recall[i+1] / n; got < floor {
				t.Errorf("%d conversations: recall %.3f at %v of the tokens, want %v", c.n, got, budgets[i+1], floor)
			}
		}
		if h1, h5 := float64(r.all.hit1)/n, float64(r.all.hit5)/n; h1 < c.hit1 || h5 < c.hit5 {
			t.Errorf("%d conversations: hit@1 %.3f, hit@5 %.3f", c.n, h1, h5)
		}
	}
}

// benchmark finds the benchmark's file, or skips the test.
func benchmark(t *testing.T) string {
	t.Helper()
	return filepath.Join(trial.Data(t), "locomo", "locomo5-dev.json")
}
