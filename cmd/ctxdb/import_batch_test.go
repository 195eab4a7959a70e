package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keyed is a transcript of n turns with keys; those that are edited say something else.
func keyed(n int, edited func(i int) bool) string {
	var b bytes.Buffer
	for i := range n {
		text := "as it was"
		if edited(i) {
			text = "as it never was"
		}
		fmt.Fprintf(&b, `{"id":%d,"role":"user","key":"k%d","content":"%d %s"}`+"\n", i+1, i, i, text)
	}
	return b.String()
}

var about = regexp.MustCompile(`key "\w+:k\d+" names turn (\d+), which .*`)

// TestImportLeavesOutExactlyTheBad: alone, in runs, at the end, nearly all.
func TestImportLeavesOutExactlyTheBad(t *testing.T) {
	const known, all = 700, 1000 // turns that are there, and with those that come
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		bad := map[int]bool{}
		for len(bad) < int(1+seed*seed*9) {
			for i, run := rng.IntN(known), 1+rng.IntN(1+int(seed)*4); run > 0 && i < known; i, run = i+1, run-1 {
				bad[i] = true
			}
		}
		bad[0], bad[known-1] = false, seed%3 == 0 // the first turn names the stream
		db := filepath.Join(t.TempDir(), "a.ctxdb")
		if _, errOut, code := command(strings.NewReader(keyed(known, func(int) bool { return false })), "import", db, "-"); code != 0 {
			t.Fatalf("exit code %d\n%s", code, errOut)
		}
		want, left := []string{}, 0
		for i := range known {
			if bad[i] {
				left++
				want = append(want, fmt.Sprintf("stdin:%d: key exists with other content: %d", i+1, i+1))
			}
		}
		out, errOut, code := command(strings.NewReader(keyed(all, func(i int) bool { return bad[i] })), "import", "-v", db, "-")
		errOut = about.ReplaceAllString(errOut, "$1")
		if got := strings.Split(strings.TrimSuffix(errOut, "\n"), "\n"); code != 1 || !slices.Equal(got, want) {
			t.Errorf("seed %d: exit code %d, %d lines, want %d\n%s", seed, code, len(got), len(want), errOut)
		}
		if s := fmt.Sprintf("imported %d turns (%d already there), left out %d\n", all-known, known-left, left); !strings.Contains(out, s) {
			t.Errorf("seed %d: %q, want %q", seed, out, s)
		}
	}
}
