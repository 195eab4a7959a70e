package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ctxdb/engine"
)

func Example() {
	dir, err := os.MkdirTemp("", "ctxdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	db, err := engine.Open(filepath.Join(dir, "agent.ctxdb"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ids, err := db.Append(context.Background(),
		engine.Turn{Role: "user", Content: []byte("Where is the retry limit set?")},
		engine.Turn{Role: "assistant", Content: []byte("In client.go, line 41.")})
	if err != nil {
		log.Fatal(err)
	}
	turn, err := db.Get(ids[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("#%d %s: %s\n", turn.ID, turn.Role, turn.Content)
	// Output: #2 assistant: In client.go, line 41.
}

func ExampleDB_Window() {
	dir, err := os.MkdirTemp("", "ctxdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := engine.Open(filepath.Join(dir, "agent.ctxdb"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for i := range 3 {
		if _, err := db.Append(context.Background(), engine.Turn{Role: "user", Tokens: 40, Content: fmt.Appendf(nil, "message %d", i+1)}); err != nil {
			log.Fatal(err)
		}
	}

	w, err := db.Window("main", engine.WindowOptions{BudgetTokens: 100, LowWatermark: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []engine.TurnID{1, 2, 1, 3, 2} {
		turn, hit, err := w.Get(id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: hit %v\n", turn.Content, hit)
	}
	s := w.Stats()
	fmt.Println(s.Faults, "faults of", s.Refs, "with at most", s.PeakTokens, "tokens")
	// Output:
	// message 1: hit false
	// message 2: hit false
	// message 1: hit true
	// message 3: hit false
	// message 2: hit false
	// 4 faults of 5 with at most 80 tokens
}
