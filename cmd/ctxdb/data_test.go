package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxdb/fuzz/trial"
)

// command runs a command line in this process.
func command(stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	var out, errOut bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(&out)
	root.SetErr(&errOut)
	code = run(context.Background(), root)
	return out.String(), errOut.String(), code
}

// must runs a command line that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := command(strings.NewReader(""), args...)
	if code != 0 {
		t.Fatalf("ctxdb %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// decode runs a command line with --json.
func decode[T any](t *testing.T, wantCode int, args ...string) (v T) {
	t.Helper()
	stdout, stderr, code := command(strings.NewReader(""), append(args, "--json")...)
	if code != wantCode {
		t.Fatalf("ctxdb %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, wantCode, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("ctxdb %s: %v", strings.Join(args, " "), err)
	}
	return v
}

// genuine are the folders with whole sessions of real work, on which sizes are measured.
var genuine = []string{
	"entire-cli-claude-code", "entire-gitsync-claude-code", "entire-series-claude-code-cc432c40",
	"entire-gitsync-codex", "entire-graph-codex", "entire-series-codex-019ddeed", "claude-code-viewer",
}

// fixtures are folders with small files of the same two tools, odd ones among them.
var fixtures = []string{
	"claude-code-log", "claude-code-transcripts", "agent-sessions/stage0/agents/claude",
	"agent-sessions/stage0/agents/codex", "agentsview/claude", "agentsview/codex",
}

func sessionFiles(t *testing.T, folders ...string) (files []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(trial.Data(t), folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".jsonl") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 10 {
		t.Fatalf("%d sessions found", len(files))
	}
	return files
}

// importOne imports a file and returns what is to come out again: the file without the
// parts that were reported and not kept.
func importOne(t *testing.T, db, file string) (r importReport, kept []byte) {
	t.Helper()
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(strings.NewReader(""), "import", "--json", db, file)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if wantsOne := r.LeftOut+r.Failed > 0; (code == 1) != wantsOne || code > 1 {
		t.Fatalf("exit code %d with %d parts left out\n%s", code, r.LeftOut, stderr)
	}
	from := int64(0)
	for _, l := range r.Transcripts[0].LeftOut {
		kept = append(kept, in[from:l.Offset]...)
		from = l.Offset + l.Bytes
	}
	return r, append(kept, in[from:]...)
}

// countRecords counts with encoding/json, line by line: JSON values, lines that are none,
// and whether the end is an unusual one.
func countRecords(in []byte) (values, unreadable, tails int) {
	lines := bytes.SplitAfter(in, []byte("\n"))
	for i, line := range lines {
		for d := json.NewDecoder(bytes.NewReader(line)); ; {
			var v json.RawMessage
			err := d.Decode(&v)
			if err == nil {
				values++
				continue
			}
			if err != io.EOF && i < len(lines)-1 {
				unreadable++
			}
			break
		}
	}
	if tail := in[len(bytes.TrimRight(in, " \r\n\t")):]; values > 0 && string(tail) != "\n" {
		tails = 1
	}
	return values, unreadable, tails
}

func listAll(t *testing.T, db string, more ...string) (rows []lsRow) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(must(t, append([]string{"ls", db, "--all", "--json"}, more...)...)))
	for {
		var r lsRow
		if err := d.Decode(&r); err == io.EOF {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
}

func TestRealSessions(t *testing.T) {
	var jsonl, stored int64
	measured := sessionFiles(t, genuine...)
	for i, file := range append(slices.Clone(measured), sessionFiles(t, fixtures...)...) {
		if trial.Brief() && i%12 != 0 {
			continue
		}
		name, err := filepath.Rel(trial.Data(t), file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			in, out := realSession(t, file)
			if slices.Contains(measured, file) && !isSnapshot(file, measured) {
				jsonl, stored = jsonl+in, stored+out
			}
			t.Logf("SIZE|%s|%d|%d|%.3f", name, in, out, float64(out)/float64(in))
		})
	}
	ratio := float64(stored) / float64(jsonl)
	t.Logf("SIZE|total|%d|%d|%.3f", jsonl, stored, ratio)
	if ratio > 0.30 && !trial.Brief() {
		t.Errorf("the files take %.3f of their JSONL, the aim is 0.30", ratio)
	}
}

// isSnapshot reports whether a later snapshot of the same session follows: a session
// counts once.
func isSnapshot(file string, files []string) bool {
	next := slices.Index(files, file) + 1
	return strings.Contains(filepath.Dir(file), "-series-") && next < len(files) && filepath.Dir(files[next]) == filepath.Dir(file)
}

// realSession imports a session into a file of its own and holds it against the source.
func realSession(t *testing.T, file string) (jsonl, stored int64) {
	db := filepath.Join(t.TempDir(), "a.ctxdb")
	r, want := importOne(t, db, file)
	if r.Failed > 0 {
		if _, err := os.Stat(db); err == nil {
			t.Fatal("a file was made of an input that is no transcript")
		}
		t.Skipf("no transcript: %s", r.Transcripts[0].Failed)
	}
	must(t, "verify", db)
	if got := must(t, "export", db); got != string(want) {
		t.Fatalf("export has %d bytes, want %d, and differs", len(got), len(want))
	}
	values, unreadable, tails := countRecords(want)
	rows, counted := listAll(t, db), map[string]int{}
	for _, row := range rows {
		switch {
		case slices.Contains(row.Tags, "tail"):
			counted["tail"]++
		case slices.Contains(row.Tags, "unreadable"):
			counted["unreadable"]++
		default:
			counted["value"]++
		}
	}
	if counted["value"] != values || counted["unreadable"] != unreadable || counted["tail"] != tails || r.Imported != len(rows) {
		t.Errorf("%d turns imported: %v; counted another way: %d values, %d unreadable, %d tails", r.Imported, counted, values, unreadable, tails)
	}
	if again, _ := importOne(t, db, file); again.Imported != 0 || again.Present != r.Imported {
		t.Errorf("the second import added %d turns and knew %d of %d", again.Imported, again.Present, r.Imported)
	}
	in := decode[fileReport](t, 0, "inspect", db)
	if in.Turns != uint64(r.Imported) || in.Health != "healthy" || in.State != "closed" {
		t.Errorf("inspect: %d turns, %s, %s", in.Turns, in.State, in.Health)
	}
	return int64(len(want)), in.Bytes
}

func TestAllSessionsInOneFile(t *testing.T) {
	db := filepath.Join(t.TempDir(), "life.ctxdb")
	type stream struct {
		last  []byte // of the files imported so far, each the beginning of the next
		mixed bool   // several files of one session: turns of each are kept once
	}
	streams := map[string]*stream{}
	turns := 0
	for i, file := range sessionFiles(t, genuine...) {
		if trial.Brief() && i > 8 {
			break
		}
		r, want := importOne(t, db, file)
		rows := listAll(t, db, "--from", strconv.Itoa(turns+1))
		if len(rows) != r.Imported {
			t.Fatalf("%s: %d turns were there, %d imported, %d listed behind them", file, turns, r.Imported, len(rows))
		}
		turns += r.Imported
		if r.Imported == 0 {
			continue // a snapshot of what is there
		}
		name, _, _ := strings.Cut(rows[0].Thread, "/")
		s := streams[name]
		if s == nil {
			s = &stream{}
			streams[name] = s
		}
		s.mixed = s.mixed || !bytes.HasPrefix(want, bytes.TrimRight(s.last, "\n"))
		s.last = want
	}
	must(t, "verify", db)
	exact := 0
	for name, s := range streams {
		if s.mixed {
			continue
		}
		exact++
		if got := must(t, "export", db, "--thread", name); got != string(s.last) {
			t.Errorf("thread %s: export has %d bytes, want %d, and differs", name, len(got), len(s.last))
		}
	}
	in := decode[fileReport](t, 0, "inspect", db)
	if in.Turns != uint64(turns) || in.Health != "healthy" {
		t.Errorf("inspect: %d turns, imported %d; %s", in.Turns, turns, in.Health)
	}
	t.Logf("%d sessions, %d of them exported byte for byte; %d turns; %d bytes of sources in %d, %.3f",
		len(streams), exact, turns, in.Source, in.Bytes, float64(in.Bytes)/float64(in.Source))
	if exact < len(streams)*3/4 {
		t.Errorf("only %d of %d sessions could be compared", exact, len(streams))
	}
}
