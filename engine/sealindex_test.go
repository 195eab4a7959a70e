package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"ctxdb/format/disk"
	"ctxdb/segment"
)

// TestPanicOfTheIndexSealsWithoutIt: turns are put away and read though nothing
// can be said of what they are about.
func TestPanicOfTheIndexSealsWithoutIt(t *testing.T) {
	var log bytes.Buffer
	o := Options{FS: disk.NewMem(1), Inline: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	db := open(t, "/a", &o)
	appendTurns(t, db, Turn{Role: "user", Content: []byte("ripe quinces")})
	db.index.make = func(turns []segment.Turn) ([]segment.Extra, error) {
		panic(fmt.Sprintf("no words for %d turns", len(turns)))
	}
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if v := db.view.Load(); len(v.segs) != 1 || len(v.logs) != 0 {
		t.Fatalf("%d segments, %d logs", len(v.segs), len(v.logs))
	}
	if !strings.Contains(log.String(), "no words for 1 turns") || !strings.Contains(log.String(), "without its index") {
		t.Errorf("the log says %q", log.String())
	}
	if turn, err := db.Get(1); err != nil || string(turn.Content) != "ripe quinces" {
		t.Errorf("%q, %v", turn.Content, err)
	}
	db.index.make = nil
	appendTurns(t, db, Turn{Role: "user", Content: []byte("riper quinces")})
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if hits, err := db.Search(ctx, Query{Text: "quinces"}); err != nil || len(hits) == 0 {
		t.Errorf("%v, %v", hits, err)
	}
}
