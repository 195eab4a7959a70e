package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLineIndex(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 200 {
		text := make([]byte, rng.IntN(400))
		for i := range text {
			text[i] = "ab\n"[rng.IntN(3)]
		}
		x := &lineIndex{src: iotest.OneByteReader(bytes.NewReader(text))}
		if rng.IntN(2) == 0 {
			x.src = bytes.NewReader(text)
		}
		if got, err := io.ReadAll(x); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("read %q, %v", got, err)
		}
		for end := 1; end <= len(text); end += 1 + rng.IntN(9) {
			want := 1 + bytes.Count(text[:end-1], []byte("\n"))
			if got := x.at(int64(end)); got != want {
				t.Fatalf("%q: the byte before offset %d is in line %d, want %d", text, end, got, want)
			}
		}
	}
}

func TestPatientReader(t *testing.T) {
	long := strings.Repeat("so many words ", 100_000)
	got, err := io.ReadAll(newPatientReader(t.Context(), iotest.HalfReader(strings.NewReader(long))))
	if err != nil || string(got) != long {
		t.Fatalf("read %d bytes of %d, %v", len(got), len(long), err)
	}
	broken := errors.New("broken")
	got, err = io.ReadAll(newPatientReader(t.Context(), io.MultiReader(strings.NewReader("some"), iotest.ErrReader(broken))))
	if string(got) != "some" || !errors.Is(err, broken) {
		t.Fatalf("read %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	silent, end := io.Pipe()
	defer end.Close()
	r := newPatientReader(ctx, silent)
	cancel()
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled read: %d, %v", n, err)
	}
}
