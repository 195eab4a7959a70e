package workload

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ctxdb/engine"
)

// Coding returns turns of coding sessions: what the records of Claude Code and
// Codex sessions have for content, in the bytes that came.
func Coding() (*Set, error) {
	dir := dataDir()
	files := glob(dir, "entire-*-claude-code", "*.jsonl")
	files = append(files, glob(dir, "entire-*-codex", "*.jsonl")...)
	var turns []engine.Turn
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		turns = append(turns, session(filepath.Base(f), data)...)
	}
	if len(turns) == 0 {
		return made("coding", 300, 3000), nil
	}
	return newSet("coding", true, turns), nil
}

func glob(dir string, parts ...string) []string {
	if dir == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(append([]string{dir}, parts...)...)) // the pattern is well-formed
	slices.Sort(files)
	return files
}

// record is what both formats of sessions have that matters here.
type record struct {
	Type    string
	Message *struct {
		Role    string
		Content json.RawMessage
	}
	Payload json.RawMessage
}

// session reads the turns of a session; what is no turn, or can't be read, is
// left out: this is a workload, not an import.
func session(thread string, data []byte) (turns []engine.Turn) {
	for line := range bytes.Lines(data) {
		dec := json.NewDecoder(bytes.NewReader(line)) // a line may hold two records
		for {
			var r record
			if dec.Decode(&r) != nil {
				break
			}
			t := engine.Turn{Thread: thread, Role: r.Type}
			switch {
			case r.Message != nil:
				t.Role, t.Content = r.Message.Role, r.Message.Content
			case r.Type == "response_item":
				t.Role, t.Content = "assistant", r.Payload
			}
			if len(t.Content) > 0 {
				turns = append(turns, t)
			}
		}
	}
	return turns
}

// Chat returns turns of chats: the messages of LoCoMo's conversations (Maharana
// et al., 2024), and of customer service chats of tau-bench (Yao et al., 2024).
func Chat() (*Set, error) {
	dir := dataDir()
	var turns []engine.Turn
	for _, f := range append(glob(dir, "locomo", "*.json"), glob(dir, "tau-bench", "gpt-4o-airline.json")...) {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		turns = append(turns, chat(filepath.Base(f), data)...)
	}
	if len(turns) == 0 {
		return made("chat", 40, 230), nil
	}
	return newSet("chat", true, turns), nil
}

// utterance is a message of either of the two.
type utterance struct {
	Speaker string
	Text    string
	Role    string
	Content string
}

type conversation struct {
	Conversation map[string]json.RawMessage // LoCoMo: session_N and others
	Traj         []utterance                // tau-bench
}

func chat(thread string, data []byte) (turns []engine.Turn) {
	var all []conversation
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	for _, c := range all {
		said := c.Traj
		for _, name := range slices.Sorted(maps.Keys(c.Conversation)) {
			var session []utterance
			if json.Unmarshal(c.Conversation[name], &session) == nil {
				said = append(said, session...)
			}
		}
		for _, u := range said {
			if text := u.Text + u.Content; text != "" && u.Role != "system" {
				turns = append(turns, engine.Turn{Thread: thread, Role: u.Speaker + u.Role, Content: []byte(text)})
			}
		}
	}
	return turns
}

func dataDir() string {
	if d := os.Getenv("CTXDB_DATA"); d != "" {
		return d
	}
	wd, err := os.Getwd()
	if err != nil {
		return ""
	}
	for d := wd; ; d = filepath.Dir(d) {
		candidate := filepath.Join(d, "..", "shared", "data")
		if _, err := os.Stat(filepath.Join(candidate, "README.md")); err == nil {
			return candidate
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}
