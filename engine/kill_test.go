package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxdb/fuzz/trial"
)

// A child process runs one of these instead of the tests.
var children = map[string]func(path string) error{
	"append": childAppend,
	"hold":   childHold,
}

const childEnv = "CTXDB_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := children[role](os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(role, path string) *exec.Cmd {
	c := exec.Command(os.Args[0], path)
	c.Env = append(os.Environ(), childEnv+"="+role)
	c.Stderr = os.Stderr
	return c
}

// killedTurn is the turn that a key stands for, so that a reader can tell a
// real one from an invented one.
func killedTurn(key string) Turn {
	var seed uint64
	for _, c := range key {
		seed = seed*131 + uint64(c)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	n := rng.IntN(1500)
	if rng.IntN(40) == 0 {
		n = rng.IntN(40000)
	}
	return Turn{Key: key, Thread: "kill", Role: "user", Content: bytes.Repeat([]byte(key+" of the writer\n"), 1+n/(len(key)+15))}
}

// childAppend appends from four goroutines until it is killed, and says what
// was acknowledged.
func childAppend(path string) error {
	db, err := Open(path, &Options{LogBytes: 128 << 10})
	if err != nil {
		return err
	}
	fmt.Println("open")
	var mu sync.Mutex
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d.%d.%d", os.Getpid(), g, i)
				ids, err := db.Append(ctx, killedTurn(key))
				if err != nil {
					panic(err)
				}
				mu.Lock()
				fmt.Printf("%d %s\n", ids[0], key)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return nil
}

// TestKillNine: what a process acknowledged before it was killed is there,
// nothing else is, and ids have no gaps.
func TestKillNine(t *testing.T) {
	kills := 200
	if trial.Brief() {
		kills = 20
	}
	const seed = 99
	t.Logf("seed %d, %d kills", seed, kills)
	rng := rand.New(rand.NewPCG(seed, seed))
	path := filepath.Join(t.TempDir(), "kill.ctxdb")
	acknowledged := map[TurnID]string{}
	var slowest time.Duration
	for i := range kills {
		runAndKill(t, path, time.Duration(rng.IntN(30_000))*time.Microsecond, acknowledged)
		start := time.Now()
		db := open(t, path, nil)
		slowest = max(slowest, time.Since(start))
		if i%20 == 19 || i == kills-1 {
			holds(t, db, acknowledged)
		} else {
			for id, key := range acknowledged {
				if rng.IntN(len(acknowledged)) < 50 {
					sameKilled(t, db, id, key)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d turns acknowledged, slowest open %v", len(acknowledged), slowest)
}

// startAppending starts a process that appends to path. It has opened the file when
// this returns; lines are what it says of each turn.
func startAppending(t *testing.T, path string) (c *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	c = child("append", path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines = bufio.NewScanner(out)
	lines.Scan() // "open"
	return c, lines
}

// runAndKill starts a child, lets it append for a while, kills it, and collects
// what it had said by then.
func runAndKill(t *testing.T, path string, after time.Duration, acknowledged map[TurnID]string) {
	t.Helper()
	c, lines := startAppending(t, path)
	time.AfterFunc(after, func() { c.Process.Kill() })
	for lines.Scan() {
		id, key, ok := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseUint(id, 10, 64)
		if !ok || err != nil || !strings.Contains(key, ".") {
			continue // the line that the kill cut
		}
		acknowledged[TurnID(n)] = key
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

func sameKilled(t *testing.T, db *DB, id TurnID, key string) {
	t.Helper()
	got, err := db.Get(id)
	if err != nil {
		t.Fatalf("turn %d of %q: %v", id, key, err)
	}
	// The kill may have cut the last line within its key.
	if !strings.HasPrefix(got.Key, key) {
		t.Fatalf("turn %d has key %q, acknowledged was %q", id, got.Key, key)
	}
	if err := sameTurn(killedTurn(got.Key), got); err != nil {
		t.Fatalf("turn %d: %v", id, err)
	}
}

// holds checks the whole file.
func holds(t *testing.T, db *DB, acknowledged map[TurnID]string) {
	t.Helper()
	for id, key := range acknowledged {
		sameKilled(t, db, id, key)
	}
	next := TurnID(1)
	for got, err := range db.Turns(1, 0) {
		if err != nil || got.ID != next {
			t.Fatalf("turn %d where %d is expected: %v", got.ID, next, err)
		}
		if err := sameTurn(killedTurn(got.Key), got); err != nil {
			t.Fatalf("invented turn %d: %v", got.ID, err)
		}
		next++
	}
	for f, err := range db.Verify(ctx) {
		t.Fatalf("verify: %+v, %v", f, err)
	}
}

// childHold holds the writer's lock until its input ends.
func childHold(path string) error {
	db, err := Open(path, nil)
	if err != nil {
		return err
	}
	fmt.Println("open")
	bufio.NewReader(os.Stdin).ReadByte()
	return db.Close()
}
