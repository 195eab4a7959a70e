package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

// command runs a built ctxdb. One that has not ended after a minute was blocked.
type command struct {
	t    *testing.T
	path string
}

func (c command) run(args ...string) []byte {
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	p := exec.CommandContext(within, c.path, args...)
	p.Stdout, p.Stderr = &out, &errs
	if err := p.Run(); err != nil {
		c.t.Errorf("ctxdb %s: %v; %s%s", strings.Join(args, " "), errors.Join(err, within.Err()), errs.Bytes(), out.Bytes()[:min(out.Len(), 400)])
	}
	return out.Bytes()
}

// TestCommandsBesideAWriter runs the reading verbs as processes of their own
// while another process appends, seals and reuses its log at full speed. None is
// blocked, all exit 0, every turn is exact, and what they show is a gapless
// beginning that has everything acknowledged before they started. The writer
// goes on meanwhile.
func TestCommandsBesideAWriter(t *testing.T) {
	if trial.Brief() {
		t.Skip("builds the command and runs it for seconds")
	}
	dir := t.TempDir()
	path, bin := filepath.Join(dir, "live.ctxdb"), filepath.Join(dir, "ctxdb")
	if out, err := exec.Command("go", "build", "-o", bin, "ctxdb/cmd/ctxdb").CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("no go command")
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	writer, acknowledged, collect := appendingChild(t, path)

	c := command{t, bin}
	verbs := []func(before uint64) uint64{
		func(before uint64) uint64 { return c.inspected(path) },
		func(before uint64) uint64 { return c.exported(path) },
		func(before uint64) uint64 { c.searched(path, before); return before },
		func(before uint64) uint64 { c.run("verify", path); return before },
	}
	var runs [4]atomic.Int64
	var idle atomic.Int64
	stop := time.Now().Add(8 * time.Second)
	var readers sync.WaitGroup
	for v, verb := range verbs {
		readers.Go(func() {
			for time.Now().Before(stop) && !t.Failed() {
				before := acknowledged.Load()
				if before == 0 {
					time.Sleep(time.Millisecond)
					continue
				}
				if got := verb(before); got < before {
					t.Errorf("verb %d shows %d turns, %d were acknowledged before it began", v, got, before)
				}
				if acknowledged.Load() == before {
					idle.Add(1)
				}
				runs[v].Add(1)
			}
		})
	}
	readers.Wait()
	writer.Process.Kill()
	collect.Wait()
	writer.Wait()
	total := int64(0)
	for v := range runs {
		if total += runs[v].Load(); runs[v].Load() == 0 {
			t.Errorf("verb %d never ran", v)
		}
	}
	if idle.Load() == total {
		t.Error("the writer did nothing while commands ran")
	}
	t.Logf("inspect %d, export %d, search %d, verify %d times beside %d appends", runs[0].Load(), runs[1].Load(), runs[2].Load(), runs[3].Load(), acknowledged.Load())
	wellFormed(t, open(t, path, nil))
}

func (c command) inspected(path string) (turns uint64) {
	var got struct{ Turns uint64 }
	if err := json.Unmarshal(c.run("inspect", "--json", path), &got); err != nil {
		c.t.Errorf("inspect: %v", err)
	}
	return got.Turns
}

// exported holds every turn against what its key stands for.
func (c command) exported(path string) (turns uint64) {
	d := json.NewDecoder(bytes.NewReader(c.run("export", "--format", "jsonl", path)))
	for d.More() {
		var got struct {
			ID                         uint64
			Key, Thread, Role, Content string
		}
		if err := d.Decode(&got); err != nil {
			c.t.Errorf("export, behind turn %d: %v", turns, err)
			return turns
		}
		want := killedTurn(got.Key)
		if turns++; got.ID != turns || got.Thread != want.Thread || got.Role != want.Role || got.Content != string(want.Content) {
			c.t.Errorf("export: turn %d, where %d is expected, differs from key %q", got.ID, turns, got.Key)
			return turns
		}
	}
	return turns
}

// searched reads what was found, turn by turn.
func (c command) searched(path string, before uint64) {
	d := json.NewDecoder(bytes.NewReader(c.run("search", "--json", "-k", "3", path, "writer")))
	hits := 0
	for ; d.More(); hits++ {
		var hit struct{ ID uint64 }
		if err := d.Decode(&hit); err != nil {
			c.t.Errorf("search: %v", err)
			return
		}
		content := c.run("get", path, fmt.Sprint(hit.ID))
		key, _, _ := strings.Cut(string(content), " ")
		if !bytes.Equal(content, killedTurn(key).Content) {
			c.t.Errorf("search: turn %d of key %q differs", hit.ID, key)
		}
	}
	if hits == 0 {
		c.t.Errorf("search: nothing found among %d turns", before)
	}
}
