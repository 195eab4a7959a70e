package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestHandlesTellApart: results of one tool that are nearly the same are told
// apart by what only one of them says.
func TestHandlesTellApart(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
	var turns []Turn
	filler := strings.Repeat("the table is read and checked and written and closed again in the usual way; ", 30)
	for _, s := range subjects {
		turns = append(turns, Turn{
			Thread: "s", Role: "tool_result", Time: time.Date(2025, 3, 1, 9, 7, 0, 0, time.UTC), Tags: []string{"tool:Read"},
			Entities: []string{"/home/dev/project/with/a/rather/long/path/of/many/folders/module/table.go"}, Content: []byte(filler + "about the " + s + ". " + filler),
		})
	}
	ids := appendTurns(t, db, turns...)
	for _, sealed := range []bool{false, true} {
		if sealed {
			if err := db.Checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
		all, err := db.Handles(ctx, ids)
		if err != nil || len(all) != len(ids) {
			t.Fatal(len(all), err)
		}
		for i, h := range all {
			line := h.String()
			if h.ID != ids[i] || len(line) > HandleBytes || len(h.Terms) == 0 || h.Terms[0] != subjects[i] || !strings.Contains(line, "table.go 2025-03-01 09:07 1,") {
				t.Errorf("sealed %v: %s\nterms %v, want %s first", sealed, line, h.Terms, subjects[i])
			}
		}
		if h, err := db.Handle(ids[5]); err != nil || h.Terms[0] != subjects[5] {
			t.Errorf("alone: %v, %v", h, err)
		}
	}
	if _, err := db.Handle(99); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such turn: %v", err)
	}
}

func TestHandleLine(t *testing.T) {
	h := Handle{ID: 42, Role: "tool_result", Tool: "Read", Origin: "/path/x.go", Time: time.Date(2025, 3, 1, 9, 7, 0, 0, time.UTC), Tokens: 1850, Terms: []string{"loadTable", "glacier"}}
	if got, want := h.String(), "#42 tool_result Read /path/x.go 2025-03-01 09:07 1,850 tokens: loadTable glacier"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	h.Parts, h.Here = 8, []int{0, 1, 5}
	if got, want := h.String(), "(parts 0-1,5 of 0-7 here, get #42.2)"; !strings.Contains(got, want) {
		t.Errorf("%s\nlacks\n%s", got, want)
	}
	h.Summary = strings.Repeat("größer ", 200)
	for h.Bytes = 1; h.Bytes < 400; h.Bytes++ {
		if line := h.String(); len(line) > max(h.Bytes, minHandleBytes) || strings.Contains(line, "\n") || !strings.HasPrefix(line, "#42 ") {
			t.Fatalf("%d bytes: %q", h.Bytes, line)
		}
	}
}

// TestHandleOfALongText: its first words stand before the terms, whole words,
// and nothing is told twice.
func TestHandleOfALongText(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
	var turns []Turn
	for i, s := range subjects {
		turns = append(turns, Turn{Role: "assistant", Content: []byte("Größere Schritte, number one of many, were " + strings.Repeat("taken and taken again by the same people. ", 20) + s + strings.Repeat(" x", i))})
	}
	turns = append(turns, Turn{Role: "assistant", Content: []byte(strings.Repeat("z", 5000))}, Turn{Role: "assistant", Content: []byte(strings.Repeat("\xff \n", 900))})
	ids := appendTurns(t, db, turns...)
	all, err := db.Handles(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range all {
		line := h.String()
		if len(line) > HandleBytes || !utf8.ValidString(line) || strings.Contains(line, "\n") {
			t.Errorf("%q", line)
		}
		if i < len(subjects) && (!strings.Contains(line, " tokens: Größere Schritte, number one of many, were") || !strings.Contains(line, subjects[i]) || strings.Count(line, "Schritte") > 1) {
			t.Errorf("%s lacks its beginning or %s", line, subjects[i])
		}
	}
}

// chooser answers as it is told.
type chooser func(ctx context.Context, question string, handles []Handle) ([]TurnID, error)

func (c chooser) Select(ctx context.Context, question string, handles []Handle) ([]TurnID, error) {
	return c(ctx, question, handles)
}

// TestSelector: its choice is fetched; whatever goes wrong with it, the plain path
// is taken and the prompt says so.
func TestSelector(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
	for i := range 60 {
		appendTurns(t, db, Turn{Role: "user", Content: fmt.Appendf(nil, "turn %d about the %s: %s", i, subjects[i%len(subjects)], strings.Repeat("and so on ", 80))})
	}
	q := Query{Text: "the harbour and the violin"}
	plain := assemble(t, window(t, db, WindowOptions{BudgetTokens: 8000}), q)
	second := func(_ context.Context, _ string, h []Handle) ([]TurnID, error) { return []TurnID{h[1].ID}, nil }
	for name, c := range map[string]struct {
		choose chooser
		failed bool
	}{
		"second":  {second, false},
		"none":    {func(context.Context, string, []Handle) ([]TurnID, error) { return nil, nil }, false},
		"error":   {func(context.Context, string, []Handle) ([]TurnID, error) { return nil, errors.New("quota") }, true},
		"unknown": {func(context.Context, string, []Handle) ([]TurnID, error) { return []TurnID{12345}, nil }, true},
		"many": {func(_ context.Context, _ string, h []Handle) (ids []TurnID, err error) {
			for _, x := range h[:7] {
				ids = append(ids, x.ID)
			}
			return ids, nil
		}, true},
		"panic": {func(context.Context, string, []Handle) ([]TurnID, error) { panic("oh") }, true},
		"slow": {func(ctx context.Context, _ string, _ []Handle) ([]TurnID, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, true},
	} {
		w := window(t, db, WindowOptions{BudgetTokens: 8000, Selector: c.choose, SelectWait: map[bool]time.Duration{true: time.Millisecond}[name == "slow"]})
		p := assemble(t, w, q)
		noted := slices.ContainsFunc(p.Notes, func(s string) bool { return strings.HasPrefix(s, "selector: ") })
		if noted != c.failed {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
		if c.failed && (len(p.Fetched) != len(plain.Fetched) || p.Text() != plain.Text()) {
			t.Errorf("%s: not the plain path: %v", name, p.Fetched)
		}
		if name == "second" && (len(p.Fetched) != 1 || p.Fetched[0].ID != plain.Fetched[1].ID || p.Fetched[0].Why != "selector") {
			t.Errorf("second: %v", p.Fetched)
		}
	}
}

// TestShortSessions are simply resident; from the twelfth turn and 6,000 tokens on they are not.
func TestShortSessions(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
	w := window(t, db, WindowOptions{BudgetTokens: 20_000})
	for i := range 15 {
		appendTurns(t, db, Turn{Role: "user", Content: []byte(strings.Repeat("word ", 625))})
		p := assemble(t, w, Query{Text: "nothing of this"})
		if short := i+1 < 12; p.Short != short || short && (len(p.Messages) != i+1 || len(p.Index) > 0) {
			t.Errorf("%d turns: short %v, %d messages", i+1, p.Short, len(p.Messages))
		}
	}
}

// TestShortSessionsThatDoNotFit are searched like others; what was asked for was
// left out without a word.
func TestShortSessionsThatDoNotFit(t *testing.T) {
	for name, o := range map[string]WindowOptions{
		"tokens": {BudgetTokens: 4000}, "bytes": {BudgetBytes: 16_000}, "both": {BudgetTokens: 100_000, BudgetBytes: 16_000},
	} {
		db := open(t, filepath.Join(t.TempDir(), "a.ctxdb"), nil)
		for i := range 10 {
			appendTurns(t, db, Turn{Role: "user", Content: []byte(subjects[i] + strings.Repeat(" word", 400))})
		}
		p := assemble(t, window(t, db, o), Query{Text: "what about the " + subjects[1] + "?"})
		if p.Short || !strings.Contains(p.Text(), subjects[1]+" word") || len(p.Fetched) == 0 || p.Fetched[0].ID != 2 {
			t.Errorf("%s: short %v, fetched %v", name, p.Short, p.Fetched)
		}
	}
}
