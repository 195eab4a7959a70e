package recalltest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine/lex"
	"ctxdb/engine/rank"
	"ctxdb/fuzz/trial"
)

// sessions are the long Claude Code and Codex files.
var sessions = []string{
	"entire-cli-claude-code/37-995ebed6e4-2.jsonl", "entire-cli-claude-code/38-ecf75f2f1d-0.jsonl",
	"entire-cli-claude-code/8c-fa910f8ef9-0.jsonl", "entire-cli-claude-code/ad-a8171575ce-0.jsonl",
	"entire-cli-claude-code/f0-c3dbdad0d8-0.jsonl", "entire-gitsync-claude-code/0c-2a854b8908-0.jsonl",
	"entire-gitsync-claude-code/71-872426c9cd-0.jsonl", "entire-gitsync-codex/27-633b8ca595-1.jsonl",
	"entire-gitsync-codex/a6-9904c9f963-0.jsonl", "entire-graph-codex/03-0f3d39319d-0.jsonl",
}

// session reads the turns of a file that a model saw.
func session(t testing.TB, name string) []transcript.Turn {
	t.Helper()
	f, err := os.Open(filepath.Join(trial.Data(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var turns []transcript.Turn
	for turn, err := range transcript.NewReader(f, transcript.Options{}).All() {
		if err != nil {
			t.Fatal(err)
		}
		if turn.Role != transcript.RoleMeta {
			turns = append(turns, turn)
		}
	}
	return turns
}

// indexed analyses a turn as the engine does.
func indexed(a *lex.Analyzer, dst []lex.TermCount, t *transcript.Turn) rank.Turn {
	tags := slices.DeleteFunc(slices.Clone(t.Tags), func(tag string) bool { return !strings.HasPrefix(tag, "tool:") })
	doc := a.Turn(dst, lex.Input{Content: t.Content, Summary: t.Summary, Entities: t.Entities, Tags: tags})
	return rank.Turn{Thread: t.Thread, Role: t.Role, Time: t.Time, Doc: doc}
}
