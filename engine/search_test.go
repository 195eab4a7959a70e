package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
		just := all[1].Time
		if hits, err := db.Search(ctx, Query{Text: "billing", From: just, To: just}); err != nil || len(hits) != 1 || hits[0].ID != 2 {
			t.Errorf("of one moment: %+v, %v", hits, err)
		}
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

// TestSearchUnderstands: other scripts, and speakers and dates that the question names.
func TestSearchUnderstands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, nil)
	at := time.Date(2023, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, c := range []struct{ role, text string }{
		{"Ada", "We sailed to the island."},
		{"Ben", "We sailed to the island."},
		{"Ada", "数据库引擎用于存储会话"},
		{"Ben", "天気はとても良いです"},
		{"Ada", "Мы говорили о старых лодках у причала"},
		{"Ben", "تحدثنا عن القوارب القديمة"},
		{"Ada", "เราคุยกันเรื่องเรือเก่า"},
		{"Ben", "우리는 오래된 배에 대해 이야기했다"},
		{"Ada", "Die Größe der Bücher ändert sich"},
	} {
		turn := Turn{Thread: fmt.Sprint(i), Role: c.role, Time: at.AddDate(0, i, 0), Content: []byte(c.text)}
		appendTurns(t, db, turn)
	}
	for range 2 {
		for question, want := range map[string]TurnID{
			"where did Ada sail":          1,
			"where did Ben sail":          2,
			"who sailed in March 2023?":   1,
			"who sailed on 2 April 2023?": 2,
			"存储 引擎":                       3,
			"天気":                          4,
			"старые лодки у причала":      5,
			"القوارب":                     6,
			"เรือ":                        7,
			"오래된 배에":                      8,
			"GRÖSSE größe bücher":         9,
			`"ist etwas" größe`:           0,
			`"größe der BÜCHER"`:          9,
			`“数据库引擎”`:                     3,
		} {
			hits, err := db.Search(ctx, Query{Text: question, K: 1})
			if err != nil || want == 0 && len(hits) > 0 || want > 0 && (len(hits) == 0 || hits[0].ID != want) {
				t.Errorf("%q: %+v, want #%d, %v", question, hits, want, err)
			}
		}
		if err := db.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	wellFormed(t, db)
}

// TestSearchFilters: by tag, and records of role meta where they are asked for.
func TestSearchFilters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ctxdb")
	db := open(t, path, nil)
	turn := func(thread, role, text string, tags ...string) Turn {
		return Turn{Thread: thread, Role: role, Content: []byte(text), Tags: tags}
	}
	turns := []Turn{
		turn("a", "user", "quinces in the garden", "fruit", "big tree"),
		turn("a", "user", "more quinces", "fruit"),
		turn("a", RoleMeta, `{"note":"quinces"}`, "fruit"),
		turn("b", RoleMeta, `{"note":"quinces"}`),
		turn("b", "assistant", "quinces are fruit of a big tree"),
	}
	appendTurns(t, db, turns...)
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	appendTurns(t, db, turns...)
	for range 2 {
		for _, c := range []struct {
			q    Query
			want string // ids, ascending
		}{
			{Query{}, "[1 2 5 6 7 10]"},
			{Query{Tags: []string{"fruit"}}, "[1 2 6 7]"},
			{Query{Tags: []string{"fruit", "big tree"}}, "[1 6]"},
			{Query{Tags: []string{"tree"}}, "[]"},
			{Query{Roles: []string{RoleMeta}}, "[3 4 8 9]"},
			{Query{Roles: []string{RoleMeta}, Thread: "b"}, "[4 9]"},
			{Query{Roles: []string{RoleMeta}, Tags: []string{"fruit"}}, "[3 8]"},
			{Query{Roles: []string{RoleMeta, "assistant"}}, "[3 4 5 8 9 10]"},
			{Query{Roles: []string{RoleMeta, "assistant"}, K: 3}, ""},
		} {
			c.q.Text = "quinces"
			hits, err := db.Search(ctx, c.q)
			ids := []TurnID{}
			for _, h := range hits {
				ids = append(ids, h.ID)
			}
			slices.Sort(ids)
			if err != nil || c.q.K == 0 && fmt.Sprint(ids) != c.want || c.q.K > 0 && len(ids) != c.q.K {
				t.Errorf("%+v: %v, want %s, %v", c.q, ids, c.want, err)
			}
		}
		wellFormed(t, db)
		db = open(t, path, nil)
	}
	wellFormed(t, db)
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
