package format

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/vectors anew")

// makeVectors returns one whole example of each structure and one vector for
// each fault. It is deterministic.
func makeVectors(t testing.TB) (list []vector) {
	for _, c := range codecs() {
		v := baseVector(c)
		v.Name, v.Comment, v.Expect = c.name+"-ok", "whole", "ok"
		list = append(list, v)
	}
	for _, f := range faults() {
		c := codecNamed(t, f.structure)
		v := baseVector(c)
		place := v.place()
		f.change(&v)
		if at, moved := v.Args["at"]; moved && at != uint64(place) && f.structure != "block" {
			place = int64(at)
		}
		if f.structure == "block" {
			place = v.place()
		}
		if !f.raw && c.seal != nil {
			c.seal(&v)
		}
		v.Name, v.Comment, v.Expect = f.structure+"-"+f.name, f.comment, f.expect
		if f.expect == "corrupt" {
			v.Offset = place + f.shift
		}
		list = append(list, v)
	}
	return list
}

func baseVector(c codec) vector {
	v := vector{Structure: c.name, Offset: -1}
	b, a := c.base()
	v.Body, v.Args = bytes.Clone(b), args{}
	maps.Copy(v.Args, a)
	if c.name == "source" {
		v.Content = fixTurn().Content
	}
	return v
}

// place is where in the file the structure lies.
func (v *vector) place() int64 {
	switch v.Structure {
	case "log-header":
		return fixExtent().Offset
	case "log-trailer":
		return fixExtent().Offset + fixExtent().Length - LogEdge
	}
	return int64(v.Args["base"] + v.Args["at"])
}

func (v *vector) clone() *vector {
	w := *v
	w.Body, w.Args = bytes.Clone(v.Body), maps.Clone(v.Args)
	return &w
}

func TestVectors(t *testing.T) {
	made := makeVectors(t)
	if *update {
		if err := os.MkdirAll(vectorDir, 0o777); err != nil {
			t.Fatal(err)
		}
		old, _ := filepath.Glob(filepath.Join(vectorDir, "*.txt"))
		for _, name := range old {
			os.Remove(name)
		}
		for _, v := range made {
			if err := os.WriteFile(filepath.Join(vectorDir, v.Name+".txt"), v.encode(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The files are what other programs are held against: they must not drift.
	want := map[string]string{}
	for _, v := range made {
		want[v.Name] = string(v.encode())
	}
	if len(want) != len(made) {
		t.Errorf("%d vectors have %d names", len(made), len(want))
	}
	for _, v := range readVectors(t) {
		if string(v.encode()) != want[v.Name] {
			t.Errorf("%s is not what the generator makes", v.Name)
		}
		delete(want, v.Name)
		t.Run(v.Name, func(t *testing.T) {
			if err := v.check(codecNamed(t, v.Structure)); err != nil {
				t.Errorf("%s: %v", v.Comment, err)
			}
		})
	}
	for name := range want {
		t.Errorf("%s is missing from %s", name, vectorDir)
	}
}

// check decodes the vector and holds class and offset against the head.
func (v *vector) check(c codec) error {
	body := bytes.Clone(v.Body)
	_, err := c.decode(v)
	if got := classOf(err); got != v.Expect {
		return fmt.Errorf("got %s (%v), want %s", got, err, v.Expect)
	}
	if !bytes.Equal(body, v.Body) {
		return errors.New("the decoder changed its input")
	}
	var corrupt *CorruptError
	if errors.As(err, &corrupt) && corrupt.Offset != v.Offset {
		return fmt.Errorf("error at offset %d, want %d", corrupt.Offset, v.Offset)
	}
	return nil
}

// TestVectorsCut decodes every beginning of every whole vector. What no
// checksum protects may decode; nothing may panic.
func TestVectorsCut(t *testing.T) {
	for _, v := range readVectors(t) {
		if v.Expect != "ok" {
			continue
		}
		c := codecNamed(t, v.Structure)
		for n := range v.Body {
			w := v.clone()
			w.Body = w.Body[:n:n]
			if _, err := c.decode(w); err == nil && !c.free(v.Body, n) {
				t.Fatalf("%s: decodes when cut to %d of %d bytes", v.Name, n, len(v.Body))
			}
		}
	}
}

// TestVectorsBitFlips flips every bit of every whole vector. A flip of a bit
// that a checksum protects must be found. Not protected are: the reserved
// bytes behind the checksum of a log extent's header and trailer, the padding
// behind a frame or block, pieces (the block's checksum protects them), and
// the encoded form of a source (its hash finds what changes the source).
func TestVectorsBitFlips(t *testing.T) {
	for _, v := range readVectors(t) {
		if v.Expect != "ok" {
			continue
		}
		c := codecNamed(t, v.Structure)
		whole, err := c.decode(v.clone())
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		w := v.clone()
		for bit := range len(v.Body) * 8 {
			i, mask := bit/8, byte(1)<<(bit%8)
			w.Body[i] ^= mask
			again, err := c.decode(w)
			switch {
			case err == nil && !c.free(v.Body, i):
				t.Fatalf("%s: bit %d of byte %d flipped, not found", v.Name, bit%8, i)
			case err == nil && v.Structure == "source" && !bytes.Equal(again, whole):
				t.Fatalf("%s: bit %d of byte %d flipped: another source", v.Name, bit%8, i)
			}
			w.Body[i] ^= mask
		}
	}
}
