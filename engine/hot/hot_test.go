package hot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func sample(n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = Entry{Tokens: uint64(i), Bytes: uint64(4 * i), Parts: 1, Decision: i%3 == 0, Role: "user", Summary: fmt.Sprintf("what turn %d says", i)}
		if i%5 == 0 {
			entries[i].Entities = []string{"main.go", "go test ./..."}
		}
	}
	return entries
}

func encode(t testing.TB, entries []Entry) []byte {
	t.Helper()
	b, err := Encode(entries)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 300} {
		want := sample(n)
		b := encode(t, want)
		r, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || r.Turns() != n {
			t.Fatalf("%d entries: %v", n, err)
		}
		for i := range want {
			if got, err := r.Entry(i); err != nil || !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("entry %d of %d: %+v, %v", i, n, got, err)
			}
		}
		if _, err := r.Entry(n); !errors.Is(err, ErrCorrupt) {
			t.Errorf("entry %d of %d: %v", n, n, err)
		}
	}
}

// TestCutAndFlipped: every length and every bit; entries or an error.
func TestCutAndFlipped(t *testing.T) {
	b := encode(t, sample(70))
	for n := range b {
		readAll(b[:n])
	}
	for i := range 8 * len(b) {
		c := bytes.Clone(b)
		c[i/8] ^= 1 << (i % 8)
		readAll(c)
	}
}

func readAll(b []byte) {
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	for i := 0; i < min(r.Turns(), 1000); i += 50 {
		_, _ = r.Entry(i)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(encode(f, sample(3)))
	f.Add(encode(f, sample(100)))
	f.Fuzz(func(t *testing.T, b []byte) { readAll(b) })
}

// TestHostileNumbers: sizes above 2^31, which are negative where int has 32
// bits, are damage and no panic (GOARCH=386 go test ./engine/hot).
func TestHostileNumbers(t *testing.T) {
	for _, size := range []uint32{1 << 31, 1<<32 - 1, maxGroup + 1} {
		b := encode(t, sample(3))
		binary.LittleEndian.PutUint32(b[12:], size) // of the first group's plaintext
		r, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Entry(0); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	b := encode(t, sample(3))
	binary.LittleEndian.PutUint32(b[4:], 1<<31) // turns
	if r, err := Open(zeros{b}, 1<<30); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, %v", r, err)
	}
}

// TestOtherVersion: what another program made is not damaged.
func TestOtherVersion(t *testing.T) {
	for _, v := range []uint32{0, version - 1, version + 1, 1<<32 - 1} {
		b := encode(t, sample(3))
		binary.LittleEndian.PutUint32(b, v)
		if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrVersion) || errors.Is(err, ErrCorrupt) {
			t.Errorf("version %d: %v", v, err)
		}
	}
}

// zeros are bytes with no end of zeros behind them.
type zeros struct{ b []byte }

func (z zeros) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(z.b)) {
		copy(p, z.b[at:])
	}
	return len(p), nil
}
