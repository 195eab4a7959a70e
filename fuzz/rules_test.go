package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestRulesHaveTests: each rule and each hazard names tests, and all of them
// exist.
func TestRulesHaveTests(t *testing.T) {
	table, err := os.ReadFile("rules.go")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^//\t(rule|hazard) (\d+) (.*)$`)
	test := regexp.MustCompile(`\b([a-z]+)\.((?:Test|Fuzz)\w+)`)
	next := map[string]int{"rule": 1, "hazard": 1}
	named := 0
	for _, m := range line.FindAllStringSubmatch(string(table), -1) {
		if n, _ := strconv.Atoi(m[2]); n != next[m[1]] {
			t.Errorf("%s %d where %d comes next", m[1], n, next[m[1]])
		}
		next[m[1]]++
		tests := test.FindAllStringSubmatch(m[3], -1)
		if len(tests) == 0 {
			t.Errorf("%s %s names no test", m[1], m[2])
		}
		for _, x := range tests {
			if named++; !existing(t, x[1])[x[2]] {
				t.Errorf("%s %s: there is no %s.%s", m[1], m[2], x[1], x[2])
			}
		}
	}
	if next["rule"] != 29 || next["hazard"] != 25 {
		t.Errorf("the table ends before rule %d and hazard %d", next["rule"], next["hazard"])
	}
	t.Logf("%d tests are named", named)
}

var testFolders = map[string]string{
	"fuzz": ".", "engine": "../engine", "segment": "../segment", "wal": "../wal", "format": "../format", "disk": "../format/disk", "ctxdb": "../cmd/ctxdb", "transcript": "../cmd/ctxdb/internal/transcript",
}

var known = map[string]map[string]bool{}

// existing lists the tests of a package.
func existing(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	if known[pkg] != nil {
		return known[pkg]
	}
	files, err := filepath.Glob(filepath.Join(testFolders[pkg], "*_test.go"))
	if err != nil || len(files) == 0 || testFolders[pkg] == "" {
		t.Fatalf("package %s: %d files of tests, %v", pkg, len(files), err)
	}
	known[pkg] = map[string]bool{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for rest := string(b); ; {
			_, after, ok := strings.Cut(rest, "\nfunc ")
			if !ok {
				break
			}
			known[pkg][after[:strings.IndexAny(after, "([")]] = true
			rest = after
		}
	}
	return known[pkg]
}
