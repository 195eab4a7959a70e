package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"ctxdb/engine"
	"ctxdb/engine/openai"
)

// A server of a model; any that speaks the protocol will do. This one knows that
// a boat is a kayak.
func model() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		var data []map[string]any
		for i, text := range q.Input {
			v := []float32{1, 0}
			if strings.Contains(text, "boat") || strings.Contains(text, "kayak") {
				v = []float32{0, 1}
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
}

func Example() {
	server := model()
	defer server.Close()
	e, err := openai.NewEmbedder(openai.Config{URL: server.URL + "/v1", Model: "boats", Key: os.Getenv("EMBEDDER_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "ctxdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := engine.Open(filepath.Join(dir, "agent.ctxdb"), &engine.Options{Embedder: e})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	_, err = db.Append(ctx,
		engine.Turn{Role: "user", Content: []byte("The kayak leaks.")},
		engine.Turn{Role: "user", Content: []byte("The garden is dry.")})
	if err != nil {
		log.Fatal(err)
	}
	report, err := db.Embed(ctx, engine.EmbedOptions{})
	if err != nil {
		log.Fatal(err)
	}
	found, err := db.Find(ctx, engine.Query{Text: "boat", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d vectors of %s; #%d is about a boat\n", report.Made, report.Model, found.Hits[0].ID)
	// Output: 2 vectors of boats; #1 is about a boat
}
