package engine

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestLayers holds the design's picture: imports point down only, segment, wal
// and cache do not know each other, cache knows neither disk nor layout, and
// format does no I/O.
func TestLayers(t *testing.T) {
	below := map[string][]string{
		"ctxdb/format/disk": {},
		"ctxdb/format":      {},
		"ctxdb/cache":       {},
		"ctxdb/wal":         {"ctxdb/format", "ctxdb/format/disk"},
		"ctxdb/segment":     {"ctxdb/format", "ctxdb/format/disk"},
		"ctxdb/engine":      {"ctxdb/format", "ctxdb/format/disk", "ctxdb/cache", "ctxdb/wal", "ctxdb/segment"},
	}
	for pkg, allowed := range below {
		for _, dep := range imports(t, pkg) {
			if strings.HasPrefix(dep, "ctxdb/") && !slices.Contains(allowed, dep) && !strings.HasPrefix(dep, pkg+"/") {
				t.Errorf("%s imports %s, which is not below it", pkg, dep)
			}
		}
	}
	for _, dep := range imports(t, "ctxdb/format") {
		if dep == "os" || dep == "io" || dep == "syscall" || strings.HasPrefix(dep, "net") {
			t.Errorf("format imports %s: it does no I/O", dep)
		}
	}
}

func imports(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, pkg).CombinedOutput()
	if err != nil {
		t.Skipf("go list: %v\n%s", err, out)
	}
	return strings.Fields(string(out))
}
