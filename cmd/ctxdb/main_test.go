package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ctxdb/engine"
	"ctxdb/format"
)

var update = flag.Bool("update", false, "rewrite golden output")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ctxdb": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"patchhead": patchHead,
			"flip":      flip,
			"damage":    damage,
			"talk":      talk,
			"refer":     refer,
			"zeros":     zeros,
			"size":      size,
			"hold":      hold,
			"crash":     crash,
			"endpoint":  endpoint,

			"newervectors": newerVectors,
		},
	})
}

// exits CODE command...: runs the command and wants that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// patchhead FILE FIELD VALUE: changes a field in both superblocks and sets their
// checksums right, as another version of the program would.
func patchHead(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	value, err := strconv.ParseUint(args[2], 0, 64)
	ts.Check(err)
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		s, err := format.DecodeSuperblock(b[slot:slot+format.SuperblockSize], slot)
		ts.Check(err)
		switch args[1] {
		case "major":
			s.Major = uint16(value)
		case "required":
			s.RequiredFeatures = value
		case "write":
			s.WriteFeatures = value
		case "optional":
			s.OptionalFeatures = value
		default:
			ts.Fatalf("unknown field %q", args[1])
		}
		copy(b[slot:], s.Encode(slot))
	}
	ts.Check(os.WriteFile(path, b, 0o600))
}

// flip FILE ID [last]: changes a bit in the middle of the first or last block of a turn.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	db, err := engine.Open(path, &engine.Options{ReadOnly: true})
	ts.Check(err)
	id, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	where, err := db.Where(engine.TurnID(id))
	ts.Check(err)
	ts.Check(db.Close())
	b, err := os.ReadFile(path)
	ts.Check(err)
	i := 0
	if len(args) > 2 {
		i = len(where) - 1
	}
	b[where[i].Offset+where[i].Stored/2] ^= 0x10
	ts.Check(os.WriteFile(path, b, 0o600))
}

// chat is a transcript of n turns of about 1 KiB.
func chat(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"role":"user","content":"%04d %s"}`+"\n", i, strings.Repeat("round and round the mulberry bush ", 30))
	}
	return b.Bytes()
}

// talk FILE N: writes a transcript of N turns.
func talk(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), chat(n), 0o600))
}

// refer FILE WINDOW BUDGET ID...: references turns through a window, 7 or a part, 7.0.
func refer(ts *testscript.TestScript, _ bool, args []string) {
	db, err := engine.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	budget, err := strconv.Atoi(args[2])
	ts.Check(err)
	w, err := db.Window(args[1], engine.WindowOptions{BudgetTokens: budget})
	ts.Check(err)
	for _, text := range args[3:] {
		name, part, isPart := strings.Cut(text, ".")
		id, err := strconv.ParseUint(name, 10, 64)
		ts.Check(err)
		if isPart {
			n, perr := strconv.Atoi(part)
			ts.Check(perr)
			_, _, err = w.Page(engine.TurnID(id), n)
		} else {
			_, _, err = w.View(engine.TurnID(id))
		}
		ts.Check(err)
	}
	ts.Check(db.Close())
}

// damage FILE OFFSET N: changes every one of N bytes.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	offset, err := strconv.Atoi(args[1])
	ts.Check(err)
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	for i := range b[offset : offset+n] {
		b[offset+i] ^= 0xa5
	}
	ts.Check(os.WriteFile(path, b, 0o600))
}

// zeros FILE BYTES: makes a file of zeros that takes no space.
func zeros(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	ts.Check(os.Truncate(path, n))
}

// size FILE: sets $SIZE to its bytes, as reports print them.
func size(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Setenv("SIZE", count(info.Size()))
}

// hold FILE: keeps the file open for writing until the script ends.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	db, err := engine.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	ts.Setenv("PID", strconv.Itoa(os.Getpid()))
	ts.Defer(func() { ts.Check(db.Close()) })
}

// crash FILE: copies a file as it is with a turn in its log, and a piece of an append that
// did not finish behind it.
func crash(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	db, err := engine.Open(path, nil)
	ts.Check(err)
	_, err = db.Append(context.Background(), engine.Turn{Role: "user", Content: []byte("said before the power went")})
	ts.Check(err)
	log := db.Stats().Log[0]
	b, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(db.Close())
	end := log.Offset + format.LogEdge + log.Bytes
	copy(b[end+256:], "half of a frame")
	ts.Check(os.WriteFile(path, b, 0o600))
}

// endpoint: serves vectors under $ENDPOINT/v1 until the script ends, to who has the key
// "open sesame"; an automobile is a car there.
func endpoint(ts *testscript.TestScript, _ bool, _ []string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer open sesame" || r.URL.Path != "/v1/embeddings" {
			http.Error(w, `{"error":{"message":"no key, or a wrong one"}}`, http.StatusUnauthorized)
			return
		}
		var q struct {
			Input      []string
			Dimensions int
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, "no JSON", http.StatusBadRequest)
			return
		}
		var data []map[string]any
		for i, text := range q.Input {
			v := make([]float32, max(q.Dimensions, 256))
			for _, word := range strings.Fields(strings.ReplaceAll(text, "automobile", "car")) {
				v[crc32.ChecksumIEEE([]byte(word))%256]++
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	ts.Setenv("ENDPOINT", s.URL)
	ts.Defer(s.Close)
}
