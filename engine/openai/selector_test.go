package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"ctxdb/engine"
)

func TestReadIDs(t *testing.T) {
	for text, want := range map[string][]engine.TurnID{
		`{"ids":[3,1]}`: {3, 1},
		"Sure! {x} ```json\n{\"ids\": [ 7 ]}\n```": {7},
		`{"ids":[]}`:                             {},
		`{"why":{"ids":1},"ids":[2]}`:            {2},
		`I think {"note":"no"} then {"ids":[5]}`: {5},
	} {
		if got, err := readIDs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "#3", "[3]", `{"ids":"3"}`, `{"ids":[-1]}`, `{"ids":[1.5]}`, `{"ids":null}`, `{"ids":[1`, `{"ids":[99999999999999999999]}`, strings.Repeat("{", 100000)} {
		if got, err := readIDs(text); err == nil {
			t.Errorf("%.20q: %v", text, got)
		}
	}
}

// TestAssemble: a whole prompt with both models behind HTTP; whatever the chat
// model answers wrongly, the plain path is taken and the prompt says so. The key
// reaches neither the file nor the log.
func TestAssemble(t *testing.T) {
	var picks, asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			lengths(w, r)
			return
		}
		var q chatQuestion
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) != 2 || q.Model != "chat" {
			t.Errorf("%+v, %v", q, err)
		}
		asked = q.Messages[1].Content
		if picks == "500" {
			w.WriteHeader(500)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": picks}}}})
	}))
	defer s.Close()
	e, err := NewEmbedder(Config{URL: s.URL + "/v1", Model: "tiny", Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	choose, err := NewSelector(Config{URL: s.URL + "/v1", Model: "chat", Key: secret, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	path := t.TempDir() + "/a.ctxdb"
	db, err := engine.Open(path, &engine.Options{Embedder: e, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	hidden := strings.Repeat("The whole content is long and is not for the selector. ", 60)
	var turns []engine.Turn
	for i := range 40 {
		turns = append(turns, engine.Turn{Role: "user", Summary: fmt.Sprintf("kayak %d", i), Content: []byte(fmt.Sprintf("kayak number %d. ", i) + hidden)})
	}
	ids, err := db.Append(ctx, turns...)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := db.Embed(ctx, engine.EmbedOptions{}); err != nil || r.Made != 40 {
		t.Fatalf("%+v, %v", r, err)
	}
	assemble := func() engine.Prompt {
		t.Helper()
		w, err := db.Window("", engine.WindowOptions{BudgetTokens: 16000, Selector: choose})
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Assemble(ctx, engine.Query{Text: "kayak 7"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	picks = "none"
	p := assemble()
	if len(p.Fetched) != 6 || p.Fetched[0].Why != "search" || len(p.Notes) == 0 || !strings.HasPrefix(p.Notes[0], "selector: ") {
		t.Errorf("no JSON: %+v, %q", p.Fetched, p.Notes)
	}
	if strings.Count(asked, "\n#") != 12 || strings.Contains(asked, "not for the selector. The whole") {
		t.Errorf("the selector was asked:\n%s", asked)
	}
	first := p.Fetched[0].ID
	picks = fmt.Sprintf(`{"ids":[%d]}`, first)
	if p := assemble(); len(p.Fetched) != 1 || p.Fetched[0].ID != first || p.Fetched[0].Why != "selector" || len(p.Notes) != 0 {
		t.Errorf("one picked: %+v, %q", p.Fetched, p.Notes)
	}
	var seven []string
	for _, line := range strings.Split(asked, "\n") {
		if n, _, ok := strings.Cut(strings.TrimPrefix(line, "#"), " "); ok && strings.HasPrefix(line, "#") && len(seven) < 7 {
			seven = append(seven, n)
		}
	}
	for _, wrong := range []string{`{"ids":[123456]}`, `{"ids":[` + strings.Join(seven, ",") + `]}`, fmt.Sprintf(`{"ids":[%d,0]}`, ids[0]), "500"} {
		picks = wrong
		if p := assemble(); len(p.Fetched) != 6 || p.Fetched[0].Why != "search" || len(p.Notes) != 1 || strings.Contains(p.Notes[0], secret) {
			t.Errorf("%s: %+v, %q", wrong, p.Fetched, p.Notes)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil || bytes.Contains(file, []byte(secret)) || strings.Contains(log.String(), secret) {
		t.Errorf("the key is in the file or the log; %v", err)
	}
}
