package transcript

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxdb/fuzz/trial"
)

// sessions lists the real Claude Code and Codex files, relative to the shared data.
func sessions(t testing.TB) []string {
	t.Helper()
	dir := trial.Data(t)
	var files []string
	for _, root := range []string{
		"entire-cli-claude-code", "entire-gitsync-claude-code", "entire-series-claude-code-cc432c40",
		"entire-gitsync-codex", "entire-graph-codex", "entire-series-codex-019ddeed",
		"claude-code-log", "claude-code-viewer", "claude-code-transcripts",
		"agent-sessions/stage0/agents/claude", "agent-sessions/stage0/agents/codex",
		"agentsview/claude", "agentsview/codex", "ccusage",
	} {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".jsonl") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"codex_*.jsonl", "session_*.jsonl"} { // old Codex, plain lines
		old, err := filepath.Glob(filepath.Join(dir, "agent-sessions", pattern))
		if err != nil || len(old) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		files = append(files, old...)
	}
	for i, path := range files {
		var err error
		files[i], err = filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(trial.Data(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readAll reads an input to its end and checks what holds for every input.
func readAll(t testing.TB, in []byte, opts Options) ([]Turn, *Reader) {
	t.Helper()
	r := NewReader(bytes.NewReader(in), opts)
	var turns []Turn
	for turn, err := range r.All() {
		if err != nil {
			t.Fatalf("after %d turns: %v", len(turns), err)
		}
		turns = append(turns, turn)
	}
	checkTurns(t, in, turns, r)
	return turns, r
}

// checkTurns holds the reader to its promises: exact sources, unique keys, links back.
func checkTurns(t testing.TB, in []byte, turns []Turn, r *Reader) {
	t.Helper()
	if len(turns) > 0 && r.Format() != "ctxdb" {
		if got, want := join(t, turns), without(in, r.LeftOut()); !bytes.Equal(got, want) {
			t.Fatalf("sources join to %d bytes, want %d; they differ at %d", len(got), len(want), differAt(got, want))
		}
	}
	keys := make(map[string]bool)
	for i, turn := range turns {
		if turn.Key == "" || len(turn.Key) > 1024 || keys[turn.Key] && r.Format() != "ctxdb" {
			t.Fatalf("turn %d: key %q is empty, too long or used before", i, turn.Key)
		}
		if turn.ReplyKey != "" && !keys[turn.ReplyKey] {
			t.Fatalf("turn %d (%s) answers %q, which did not come before", i, turn.Key, turn.ReplyKey)
		}
		if r.Format() != "ctxdb" && StreamOf(turn.Key) != r.Stream() {
			t.Fatalf("turn %d: key %q is not of stream %q", i, turn.Key, r.Stream())
		}
		keys[turn.Key] = true
	}
}

func join(t testing.TB, turns []Turn) []byte {
	t.Helper()
	var out bytes.Buffer
	j := NewJoiner(&out)
	for _, turn := range turns {
		if err := j.Add(turn.Source, turn.Tags); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// without removes the parts that no turn holds.
func without(in []byte, parts []LeftOut) []byte {
	var out []byte
	from := int64(0)
	for _, part := range parts {
		if !part.Kept {
			out = append(out, in[from:part.Offset]...)
			from = part.Offset + part.Bytes
		}
	}
	return append(out, in[from:]...)
}

func differAt(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func keysOf(turns []Turn) (keys []string) {
	for _, turn := range turns {
		if !slices.Contains(turn.Tags, TagTail) {
			keys = append(keys, turn.Key)
		}
	}
	return keys
}

func TestRealSessions(t *testing.T) {
	roles := []string{"user", "assistant", "system", "tool_call", "tool_result", "meta"}
	t.Logf("%-75s %7s %6s | %s | left out", "file", "format", "turns", strings.Join(roles, " "))
	for _, name := range sessions(t) {
		t.Run(name, func(t *testing.T) {
			in := load(t, name)
			turns, r := readAll(t, in, Options{})
			again, _ := readAll(t, in, Options{})
			if !slices.Equal(keysOf(turns), keysOf(again)) {
				t.Error("a second reading gave other keys")
			}
			want := countAnotherWay(t, in)
			got := maps(turns)
			for _, role := range append(roles, TagUnreadable, TagTail) {
				if got[role] != want[role] {
					t.Errorf("%d turns of %s, want %d", got[role], role, want[role])
				}
			}
			var row []any
			row = append(row, name, r.Format(), len(turns))
			for _, role := range roles {
				row = append(row, got[role])
			}
			row = append(row, len(r.LeftOut()))
			t.Logf("ROW|%s|%s|%d|%d|%d|%d|%d|%d|%d|%d", row...)
		})
	}
}

// maps counts turns by role, tails and unreadable ones apart from meta.
func maps(turns []Turn) map[string]int {
	counts := make(map[string]int)
	for _, turn := range turns {
		switch {
		case slices.Contains(turn.Tags, TagTail):
			counts[TagTail]++
		case slices.Contains(turn.Tags, TagUnreadable):
			counts[TagUnreadable]++
		default:
			counts[turn.Role]++
		}
	}
	return counts
}

// store keeps the first turn of each key, in order, as the engine does.
type store struct {
	have  map[string]bool
	turns []Turn
}

func (s *store) add(turns []Turn) (added int) {
	if s.have == nil {
		s.have = make(map[string]bool)
	}
	for _, turn := range turns {
		if !s.have[turn.Key] {
			s.have[turn.Key] = true
			s.turns = append(s.turns, turn)
			added++
		}
	}
	return added
}

func TestSeriesGrow(t *testing.T) {
	for _, folder := range []string{"entire-series-claude-code-cc432c40", "entire-series-codex-019ddeed"} {
		files, err := filepath.Glob(filepath.Join(trial.Data(t), folder, "*.jsonl"))
		if err != nil || len(files) < 5 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		var s store
		var before []string
		for _, file := range files {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			turns, _ := readAll(t, in, Options{})
			keys := keysOf(turns)
			if len(keys) <= len(before) || !slices.Equal(keys[:len(before)], before) {
				t.Fatalf("%s: the keys of the snapshot before are no prefix", file)
			}
			before = keys
			if s.add(turns) == 0 || s.add(turns) != 0 {
				t.Fatalf("%s: the first import must add turns, the second none", file)
			}
			if got := join(t, s.turns); !bytes.Equal(got, in) {
				t.Fatalf("%s: export differs at byte %d of %d", file, differAt(got, in), len(in))
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{
		"entire-cli-claude-code/38-ecf75f2f1d-0.jsonl", "entire-gitsync-claude-code/0c-2a854b8908-0.jsonl",
		"entire-cli-claude-code/ad-a8171575ce-0.jsonl", "entire-graph-codex/03-0f3d39319d-0.jsonl",
	} {
		b.Run("file="+filepath.Base(name), func(b *testing.B) {
			in := load(b, name)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(bytes.NewReader(in), Options{})
				for {
					if _, err := r.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
