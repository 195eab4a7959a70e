package format

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const vectorDir = "testdata/vectors"

// vector is one file of testdata/vectors: a structure's bytes, where they are
// to be read, and what must come of it. README.md there has the syntax.
type vector struct {
	Name      string
	Structure string
	Expect    string // ok, none, corrupt, version, not-ctxdb
	Offset    int64  // of the error, absolute; -1 where the class has none
	Comment   string
	Args      args
	Content   []byte // of the turn, for a source
	Body      []byte
}

// args says where bytes are read: offsets, nonces, sums of the owner.
type args map[string]uint64

const vectorLine = 32 // bytes in one line of a body

func (v *vector) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "comment: %s\nstructure: %s\nexpect: %s\n", v.Comment, v.Structure, v.Expect)
	if v.Offset >= 0 {
		fmt.Fprintf(&b, "offset: %d\n", v.Offset)
	}
	for _, k := range slices.Sorted(maps.Keys(v.Args)) {
		fmt.Fprintf(&b, "%s: %d\n", k, v.Args[k])
	}
	if v.Content != nil {
		fmt.Fprintf(&b, "content: %x\n", v.Content)
	}
	fmt.Fprintf(&b, "size: %d\n\n", len(v.Body))
	for i := 0; i < len(v.Body); i += vectorLine {
		line := v.Body[i:min(i+vectorLine, len(v.Body))]
		if bytes.Count(line, []byte{0}) < len(line) {
			fmt.Fprintf(&b, "%06x %x\n", i, line)
		}
	}
	return b.Bytes()
}

func parseVector(name string, text []byte) (v vector, err error) {
	v = vector{Name: name, Offset: -1, Args: args{}}
	head, body, ok := strings.Cut(string(text), "\n\n")
	if !ok {
		return v, fmt.Errorf("no empty line behind the head")
	}
	for line := range strings.Lines(head) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			return v, fmt.Errorf("head line %q", line)
		}
		if err := v.set(key, value); err != nil {
			return v, fmt.Errorf("%s: %w", key, err)
		}
	}
	for line := range strings.Lines(body) {
		at, digits, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		i, err := strconv.ParseUint(at, 16, 24)
		if err != nil {
			return v, err
		}
		raw, err := hex.DecodeString(digits)
		if err != nil || int(i)+len(raw) > len(v.Body) {
			return v, fmt.Errorf("body line at %d: %v", i, err)
		}
		copy(v.Body[i:], raw)
	}
	return v, nil
}

func (v *vector) set(key, value string) (err error) {
	switch key {
	case "comment":
		v.Comment = value
	case "structure":
		v.Structure = value
	case "expect":
		v.Expect = value
	case "offset":
		v.Offset, err = strconv.ParseInt(value, 10, 64)
	case "content":
		v.Content, err = hex.DecodeString(value)
	case "size":
		var n uint64
		n, err = strconv.ParseUint(value, 10, 24)
		v.Body = make([]byte, n)
	default:
		v.Args[key], err = strconv.ParseUint(value, 10, 64)
	}
	return err
}

// readVectors returns all vectors of the folder in the order of their names.
func readVectors(t testing.TB) []vector {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(vectorDir, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors in %s (%v): make them with -update", vectorDir, err)
	}
	var list []vector
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseVector(strings.TrimSuffix(filepath.Base(name), ".txt"), text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, v)
	}
	return list
}
