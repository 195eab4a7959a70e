package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func seeds(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in)
		f.Add(in[:len(in)/2])
	}
	f.Add(grown())
	f.Add([]byte(`{"id":1,"role":"user","tokens":1,"content_base64":"AA==","source":""}` + "\n"))
	f.Add([]byte(`{"role":"","content":""}` + "000000000000000000000000000\n"))
	f.Add([]byte("\x00\x00\n" + said("a", "b") + "\xef\xbb\xbf\n\xef\xbb"))
}

// FuzzRead: no input panics or blows up; sources join to the input, but for what is
// reported; reading again, and reading a part first, changes nothing.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, opts := range []Options{{}, {MaxRecordBytes: 50}} {
			r := NewReader(bytes.NewReader(in), opts)
			var turns []Turn
			var err error
			for turn, nextErr := range r.All() {
				if err = nextErr; err == nil {
					turns = append(turns, turn)
				}
			}
			if errors.Is(err, ErrUnknownFormat) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			checkTurns(t, in, turns, r)
			if r.Offset() != int64(len(in)) {
				t.Fatalf("offset %d of %d", r.Offset(), len(in))
			}
			again := NewReader(&halves{in: in}, opts)
			var keys []string
			for turn, err := range again.All() {
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, turn.Key)
			}
			if len(keys) != len(turns) || !slices.EqualFunc(keys, turns, func(k string, x Turn) bool { return k == x.Key }) {
				t.Fatalf("read in pieces, the keys are %q", keys)
			}
		}
	})
}

// FuzzGrowth imports a part of the input and then all of it, as TestGrowth does.
func FuzzGrowth(f *testing.F) {
	in := grown()
	for _, cut := range []int{10, 100, 200, 300, len(in) - 20} {
		f.Add(in, uint(cut))
	}
	f.Add([]byte(said("a", "b")+"\r\n"+said("c", "d")), uint(84))
	f.Fuzz(func(t *testing.T, in []byte, cut uint) {
		part, first, ok := tryRead(t, in[:cut%uint(len(in)+1)])
		whole, r, okWhole := tryRead(t, in)
		if !ok || !okWhole || first.Stream() != r.Stream() || first.Format() != r.Format() || r.Format() == "ctxdb" {
			t.Skip("the part did not tell what the file is")
		}
		var s store
		s.add(part)
		s.add(whole)
		if !slices.Equal(keysOf(s.turns), keysOf(whole)) {
			t.Fatalf("keys %q, want %q", keysOf(s.turns), keysOf(whole))
		}
		if len(keysOf(part)) == len(keysOf(whole)) {
			t.Skip("only white space was added, which may be the implied newline")
		}
		if got, want := join(t, s.turns), without(in, r.LeftOut()); !bytes.Equal(got, want) {
			t.Fatalf("export %q, want %q", got, want)
		}
	})
}

func tryRead(t *testing.T, in []byte) (turns []Turn, r *Reader, ok bool) {
	r = NewReader(bytes.NewReader(in), Options{})
	for turn, err := range r.All() {
		if errors.Is(err, ErrUnknownFormat) {
			return nil, r, false
		}
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	return turns, r, true
}

// halves gives half of what is left, at least a byte.
type halves struct{ in []byte }

func (h *halves) Read(p []byte) (int, error) {
	if len(h.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, h.in[:(len(h.in)+1)/2])
	h.in = h.in[n:]
	return n, nil
}

// FuzzJSON compares the scanner and the decoder of strings with encoding/json.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,true,null,"x\u00e9\ud83d\ude00"],"b":{}}`, `"\ud83d"`, `"\ude00\ud83d"`, `[1,]`, `01`, `-`, `1.`, `"` + "\x1f" + `"`,
		"\"\xff\"", `"\/\b\f\n\r\t\""`, `[[],{"":[]}]`, `{"a":1,"a":2}`, `tru`, `"\u12g4"`, `1e700`, `{"a" : 1 , "b":[ 1 , 2 ] }`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		n, err := scanValue(in)
		if valid := json.Valid(in); valid != (err == nil && n == len(in)) {
			if trimmed := bytes.Trim(in, " \t\r\n"); len(trimmed) == len(in) {
				t.Fatalf("%q: length %d, %v; encoding/json says %v", in, n, err, valid)
			}
		}
		if err != nil {
			return
		}
		checkValue(t, in[:n])
	})
}

func checkValue(t *testing.T, v value) {
	var want any
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatalf("%q: %v", v, err)
	}
	switch want := want.(type) {
	case string:
		text, ok := v.text()
		if ok && string(text) != want {
			t.Fatalf("%q decodes to %q, want %q", v, text, want)
		}
		if !ok && !bytes.ContainsRune([]byte(want), '\uFFFD') {
			t.Fatalf("%q is refused", v)
		}
	case []any:
		items := v.items()
		if len(items) != len(want) {
			t.Fatalf("%q has %d items, want %d", v, len(items), len(want))
		}
		for _, item := range items {
			checkValue(t, item)
		}
	case map[string]any:
		seen := make(map[string]bool)
		v.members(func(key string, member value) {
			var name string
			if err := json.Unmarshal([]byte(`"`+key+`"`), &name); err != nil {
				t.Fatalf("key %q of %q: %v", key, v, err)
			}
			seen[name] = true
			checkValue(t, member)
		})
		if len(seen) != len(want) {
			t.Fatalf("%q has %d members, want %d", v, len(seen), len(want))
		}
	}
}
