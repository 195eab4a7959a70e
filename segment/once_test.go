package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"ctxdb/format"
	"ctxdb/segment"
)

// observed is a file of bytes that tells what is read of it.
type observed struct {
	byteFile
	read func(n int, off int64) // nil: nobody looks
}

func (f *observed) ReadAt(p []byte, off int64) (int, error) {
	if f.read != nil {
		f.read(len(p), off)
	}
	return f.byteFile.ReadAt(p, off)
}

// noted is a segment with a section of several pages of random bytes.
func noted(t *testing.T) (f *observed, s *segment.Segment, data []byte, at int64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 1))
	data = make([]byte, 5*format.DataPageBytes+100)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	b := build(t, 1, generated(t, 11, 20), segment.BuildOptions{Extra: func() []segment.Extra {
		return []segment.Extra{{Type: format.SectionTerms, Data: data}}
	}})
	at = int64(bytes.Index(b.Bytes, data[:format.DataPageBytes]))
	if at < 0 {
		t.Fatal("the section is not in the segment")
	}
	f = &observed{byteFile: byteFile{b: bytes.Clone(b.Bytes)}}
	s = segment.Open(f, "x", testUUID, b.Entry, segment.OpenOptions{})
	t.Cleanup(s.Close)
	return f, s, data, at
}

func section(t *testing.T, s *segment.Segment) *segment.Data {
	t.Helper()
	d, ok, err := s.Data(format.SectionTerms)
	if err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	return d
}

// A page is read whole until it was good once, and no more than is wanted then.
func TestOnceVerifiesEachPageOnce(t *testing.T) {
	f, s, data, _ := noted(t)
	d := section(t, s)
	d.Once(nil)
	rng := rand.New(rand.NewPCG(12, 1))
	seen := map[int]bool{}
	for range 300 {
		off := rng.IntN(len(data))
		got := make([]byte, 1+rng.IntN(min(len(data)-off, 2*format.DataPageBytes)))
		want, have := 0, 0
		for i := off; i < off+len(got); {
			page := i / format.DataPageBytes
			end := min((page+1)*format.DataPageBytes, off+len(got))
			if want += end - i; !seen[page] {
				want += format.IndexPageSize - (end - i)
			}
			seen[page] = true
			i = end
		}
		f.read = func(n int, _ int64) { have += n }
		n, err := d.ReadAt(got, int64(off))
		if err != nil || n != len(got) || !bytes.Equal(got, data[off:off+n]) {
			t.Fatalf("%d bytes of %d at %d: %v", n, len(got), off, err)
		}
		if have != want {
			t.Fatalf("%d bytes at %d: %d were read, want %d", len(got), off, have, want)
		}
	}
	if len(seen) != 6 {
		t.Fatalf("%d pages", len(seen))
	}
}

// A damaged page is not remembered as a good one; a page that rots after it was
// good is found by Verify, and by who opens the section anew.
func TestOnceAndDamage(t *testing.T) {
	f, s, data, at := noted(t)
	d := section(t, s)
	d.Once(nil)
	place := at + 2*format.IndexPageSize
	f.b[place+7] ^= 1
	b := make([]byte, 4)
	for range 3 {
		if _, err := d.ReadAt(b, 2*format.DataPageBytes); !errors.Is(err, format.ErrCorrupt) {
			t.Fatalf("damage: %v", err)
		}
	}
	f.b[place+7] ^= 1
	if _, err := d.ReadAt(b, 2*format.DataPageBytes); err != nil || !bytes.Equal(b, data[2*format.DataPageBytes:][:4]) {
		t.Fatalf("%x, %v", b, err)
	}
	f.b[place+7] ^= 1
	if _, err := d.ReadAt(b, 2*format.DataPageBytes+8); err != nil {
		t.Fatal(err) // what is wanted of the page is as it was
	}
	if list := findings(t, s); len(list) != 1 {
		t.Fatalf("verify: %v", list)
	}
	if _, err := section(t, s).ReadAt(b, 2*format.DataPageBytes); !errors.Is(err, format.ErrCorrupt) {
		t.Fatalf("opened anew: %v", err)
	}
	d.Doubt()
	if _, err := d.ReadAt(b, 2*format.DataPageBytes+8); !errors.Is(err, format.ErrCorrupt) {
		t.Fatalf("doubted: %v", err)
	}
}

// What is read while the segment is closed may be another owner's by then.
func TestOnceIsClosedWhileItReads(t *testing.T) {
	for _, pages := range []int{1, 3} {
		t.Run(fmt.Sprint("pages=", pages), func(t *testing.T) {
			f, s, _, at := noted(t)
			d := section(t, s)
			d.Once(nil)
			b := make([]byte, pages*format.DataPageBytes)
			if _, err := d.ReadAt(b, 0); err != nil {
				t.Fatal(err)
			}
			f.read = func(int, int64) {
				s.Close()
				clear(f.b[at : at+3*format.IndexPageSize])
			}
			if n, err := d.ReadAt(b, 0); !errors.Is(err, fs.ErrClosed) {
				t.Fatalf("%d bytes, %v", n, err)
			}
		})
	}
}

// While there is doubt, pages that were good are verified at each read.
func TestOnceInDoubt(t *testing.T) {
	f, s, data, at := noted(t)
	d := section(t, s)
	doubt := false
	d.Once(func() bool { return doubt })
	b := make([]byte, 4)
	if _, err := d.ReadAt(b, 8); err != nil {
		t.Fatal(err)
	}
	f.b[at+100] ^= 1
	if _, err := d.ReadAt(b, 8); err != nil || !bytes.Equal(b, data[8:12]) {
		t.Fatalf("%x, %v", b, err)
	}
	doubt = true
	if _, err := d.ReadAt(b, 8); !errors.Is(err, format.ErrCorrupt) {
		t.Fatalf("in doubt: %v", err)
	}
}
