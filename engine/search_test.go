package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// conversation is a made session about several things, one after another.
func conversation() []Turn {
	at := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	var all []Turn
	add := func(role, text string, entities ...string) {
		at = at.Add(7 * time.Minute)
		all = append(all, Turn{Key: fmt.Sprint("c", len(all)), Thread: "work", Role: role, Time: at, Content: []byte(text), Entities: entities})
	}
	for i, topic := range []string{"billing", "gardens", "telescope", "harbour", "violin", "glacier"} {
		add("user", fmt.Sprintf("Let us look at the %s module next.", topic))
		add("tool_result", fmt.Sprintf("package %s\n\nfunc load%sTable(path string) error {\n\treturn errShort%d\n}\n", topic, strings.ToUpper(topic[:1])+topic[1:], i), "src/"+topic+"/table.go")
		add("assistant", fmt.Sprintf("The %s table is loaded once; the error %d comes from a short read.", topic, 4000+i))
		add("meta", `{"type":"note","about":"`+topic+`"}`)
		for j := range 5 {
			add("assistant", fmt.Sprintf("Step %d of the work goes on without anything to remember.", j))
		}
	}
	return all
}

func TestSearch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, nil)
	all := conversation()
	appendTurns(t, db, all[:20]...)
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	appendTurns(t, db, all[20:]...) // these are in the log
	check := func(db *DB) {
		t.Helper()
		for _, c := range []struct {
			q    Query
			role string
			part string // of the content of the first hit
		}{
			{Query{Text: "where is loadTelescopeTable defined"}, "tool_result", "loadTelescopeTable"},
			{Query{Text: "src/billing/table.go"}, "tool_result", "package billing"},
			{Query{Text: "errShort4"}, "tool_result", "violin"},
			{Query{Text: "error 4003"}, "assistant", "harbour"},
			{Query{Text: `"short read" gardens`}, "assistant", "gardens"},
			{Query{Text: "glacier", Roles: []string{"user"}}, "user", "glacier"},
		} {
			hits, err := db.Search(ctx, c.q)
			if err != nil || len(hits) == 0 {
				t.Errorf("%q: %d hits, %v", c.q.Text, len(hits), err)
				continue
			}
			got, err := db.Get(hits[0].ID)
			if err != nil || got.Role != c.role || !strings.Contains(string(got.Content), c.part) {
				t.Errorf("%q: first is #%d %s %q, %v", c.q.Text, hits[0].ID, got.Role, got.Content, err)
			}
			if hits[0].Summary == "" || hits[0].Thread != "work" || hits[0].Time.IsZero() || hits[0].Tokens == 0 {
				t.Errorf("%q: %+v", c.q.Text, hits[0])
			}
		}
		if hits, err := db.Search(ctx, Query{Text: "telescope", Thread: "another"}); err != nil || len(hits) != 0 {
			t.Errorf("another thread: %d hits, %v", len(hits), err)
		}
		late := all[len(all)/2].Time
		hits, err := db.Search(ctx, Query{Text: "table module", From: late})
		if err != nil || len(hits) == 0 {
			t.Errorf("from: %d hits, %v", len(hits), err)
		}
		for _, h := range hits {
			if h.Time.Before(late) {
				t.Errorf("#%d is of %v", h.ID, h.Time)
			}
		}
		if hits, err := db.Search(ctx, Query{Text: "xylophone"}); err != nil || len(hits) != 0 {
			t.Errorf("absent word: %v, %v", hits, err)
		}
	}
	check(db)
	reader := open(t, path, &Options{ReadOnly: true})
	check(reader)
	wellFormed(t, reader)
	wellFormed(t, db)
	db = open(t, path, nil)
	check(db)
	wellFormed(t, db)
	if _, err := db.Search(ctx, Query{Text: "x"}); !errors.Is(err, ErrClosed) {
		t.Errorf("search after close: %v", err)
	}
}

// TestVectors: by cosine alone, exactly, from segments and the log; and beside
// words.
func TestVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, nil)
	turn := func(text string, v ...float32) Turn {
		return Turn{Thread: "v", Role: "user", Content: []byte(text), Embedding: v}
	}
	appendTurns(t, db, turn("north", 0, 1), turn("east", 1, 0), turn("nothing"), turn("north east", 1, 1))
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	appendTurns(t, db, turn("south", 0, -1), turn("nearly north", 0.1, 1), turn("other", 1, 2, 3))
	for range 2 {
		hits, err := db.Search(ctx, Query{Vector: []float32{0, 2}, K: 3})
		if err != nil || len(hits) != 3 || hits[0].ID != 1 || hits[1].ID != 6 || hits[2].ID != 4 {
			t.Fatalf("%+v, %v", hits, err)
		}
		if hits[0].Score < 0.9999 || hits[1].Score > 0.9999 {
			t.Errorf("scores %v and %v", hits[0].Score, hits[1].Score)
		}
		hits, err = db.Search(ctx, Query{Text: "nearly", Vector: []float32{0.1, 1}, K: 1})
		if err != nil || len(hits) != 1 || hits[0].ID != 6 {
			t.Fatalf("hybrid: %+v, %v", hits, err)
		}
		wellFormed(t, db)
		db = open(t, path, nil)
	}
	wellFormed(t, db)
}
