package recalltest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxdb/engine"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/fuzz/trial"

	"github.com/cespare/xxhash/v2"
)

// TestHandles asks the fifty questions with nothing to go by but a line for each
// turn: its handle of 160 bytes, of which id, role, origin, time and cost take
// about 70, or its first 160 bytes. The handles must do better even so.
func TestHandles(t *testing.T) {
	if trial.Race {
		t.Skip("measures, in one goroutine")
	}
	db, err := engine.Open(filepath.Join(t.TempDir(), "a.ctxdb"), &engine.Options{Sync: engine.SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var keys, firsts []string
	var ids []engine.TurnID
	for _, name := range sessions {
		var batch []engine.Turn
		for _, x := range session(t, name) {
			batch = append(batch, engine.Turn{
				Thread: x.Thread, Role: x.Role, Time: x.Time, Content: x.Content, Summary: x.Summary,
				Entities: x.Entities, Tags: x.Tags, Decision: x.Decision,
			})
			keys = append(keys, fmt.Sprintf("%016x", xxhash.Sum64String(x.Key)))
			firsts = append(firsts, strings.Join(strings.Fields(string(x.Content[:min(len(x.Content), 160)])), " "))
		}
		got, err := db.Append(context.Background(), batch...)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, got...)
	}
	handles, err := db.Handles(context.Background(), ids)
	if err != nil || len(handles) != len(ids) {
		t.Fatal(len(handles), err)
	}
	lines := make([]string, len(handles))
	for i, h := range handles {
		lines[i] = h.String()
	}
	if testing.Verbose() {
		for i := 200; i < 2400; i += 100 {
			t.Log(lines[i])
		}
	}
	qs := readQuestions(t)
	h1, h3 := askLines(t, lines, keys, qs)
	f1, f3 := askLines(t, firsts, keys, qs)
	t.Logf("%d turns, %d questions: handles rank 1 %d, rank 3 %d; first 160 bytes rank 1 %d, rank 3 %d", len(ids), len(qs), h1, h3, f1, f3)
	if h1 < f1+2 || h3 < f3 {
		t.Errorf("handles are no better")
	}
}

func askLines(t *testing.T, lines, keys []string, qs []question) (first, three int) {
	t.Helper()
	var a lex.Analyzer
	m := rank.NewMemory()
	for _, line := range lines {
		m.Add(rank.Turn{Doc: a.Turn(nil, lex.Input{Content: []byte(line)})})
	}
	for _, q := range qs {
		hits, err := rank.Plain.Search([]rank.Part{m.View()}, lex.Parse(q.text, &a), rank.Filter{}, 3)
		if err != nil {
			t.Fatal(err)
		}
		place := slices.IndexFunc(hits, func(h rank.Hit) bool { return slices.Contains(q.answers, keys[h.Ordinal]) })
		if place == 0 {
			first++
		}
		if place >= 0 {
			three++
		}
	}
	return first, three
}
