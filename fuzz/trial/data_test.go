package trial

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindData: the variable wins; else the folder beside the module or beside
// one of the folders above it.
func TestFindData(t *testing.T) {
	root := t.TempDir()
	data := filepath.Join(root, "shared", "data")
	deep := filepath.Join(root, "module", "package")
	for _, dir := range []string{data, deep} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(deep)
	t.Setenv("CTXDB_DATA", "")
	if dir, ok := FindData(); ok && dir == data {
		t.Fatal("a folder without README.md passed as the shared data")
	}
	if err := os.WriteFile(filepath.Join(data, "README.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if dir, ok := FindData(); !ok || dir != data {
		t.Fatalf("found %q, %v, want %q", dir, ok, data)
	}
	t.Setenv("CTXDB_DATA", "/elsewhere")
	if dir, ok := FindData(); !ok || dir != "/elsewhere" {
		t.Fatalf("the variable gave %q, %v", dir, ok)
	}
}
