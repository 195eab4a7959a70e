package segment_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ctxdb/format"
	"ctxdb/fuzz/trial"
	"ctxdb/segment"
)

// session reads a file of JSON lines: the content of a turn is what the model
// saw, about; the source is the line.
func session(t testing.TB, path string) (turns []segment.Turn, size int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var v any
		_ = json.Unmarshal(line, &v) // a damaged line has no content, and is kept
		m, _ := v.(map[string]any)
		turn := format.Turn{Thread: "main", Role: str(m, "type"), Key: str(m, "uuid"), Content: shown(nil, v), Source: line}
		turn.Tokens = uint64(len(turn.Content) / 4)
		turns = append(turns, packed(t, turn))
	}
	return turns, len(b)
}

func str(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// shown gathers what a model sees of a record.
func shown(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(append(dst, v...), '\n')
	case []any:
		for _, e := range v {
			dst = shown(dst, e)
		}
	case map[string]any:
		for _, name := range []string{"message", "payload", "content", "text", "thinking", "output", "arguments"} {
			if e, ok := v[name]; ok {
				dst = shown(dst, e)
			}
		}
		if input, ok := v["input"]; ok {
			b, _ := json.Marshal(input)
			dst = append(dst, b...)
		}
	}
	return dst
}

// chats reads the messages of a tau-bench file, or of LoCoMo: short turns
// without sources.
func chats(t testing.TB, path string) (turns []segment.Turn, size int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			role, text := str(v, "role"), str(v, "content")
			if who := str(v, "speaker"); who != "" {
				role, text = who, str(v, "text")
			}
			if role != "" && text != "" {
				source, _ := json.Marshal(v)
				size += len(source) + 1
				turns = append(turns, packed(t, format.Turn{Thread: "chat", Role: role, Content: []byte(text), Tokens: uint64(len(text) / 4), Source: source}))
				return
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		}
	}
	walk(v)
	return turns, size
}

var sessionFiles = []string{
	"entire-cli-claude-code/38-ecf75f2f1d-0.jsonl", "entire-gitsync-claude-code/71-872426c9cd-0.jsonl",
	"entire-graph-codex/03-0f3d39319d-0.jsonl", "pi-mono/large-session.jsonl", "entire-authgo-pi/f1-c404717fe7-0.jsonl",
}

func TestRealSessions(t *testing.T) {
	dir := trial.Data(t)
	for _, name := range sessionFiles[:trial.Size(len(sessionFiles), 1)] {
		turns, _ := session(t, filepath.Join(dir, name))
		b := build(t, 1, turns, segment.BuildOptions{})
		holds(t, opened(t, b, 8192, segment.OpenOptions{}), turns)
	}
}
