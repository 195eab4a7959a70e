package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ctxdb/engine"
)

func ExampleSalvage() {
	dir, err := os.MkdirTemp("", "ctxdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	src, dst := filepath.Join(dir, "agent.ctxdb"), filepath.Join(dir, "saved.ctxdb")

	db, err := engine.Open(src, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Append(ctx, engine.Turn{Role: "user", Content: []byte("Where is the retry limit set?")}); err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	// Both superblocks are overwritten: the file can't be opened any more.
	f, err := os.OpenFile(src, os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 8192), 0); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = engine.Open(src, nil)
	fmt.Println("opens:", err == nil)

	r, err := engine.Salvage(ctx, dst, src)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("kept:", r.Kept, "lost:", r.LostTurns)
	saved, err := engine.Open(dst, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer saved.Close()
	turn, err := saved.Get(1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("#%d %s: %s\n", turn.ID, turn.Role, turn.Content)
	// Output:
	// opens: false
	// kept: 1 lost: 0
	// #1 user: Where is the retry limit set?
}
