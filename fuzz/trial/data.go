package trial

import (
	"os"
	"path/filepath"
	"testing"
)

// Data returns the folder of the public sessions, conversations and traces that
// tests measure on. It is not part of this module: CTXDB_DATA names it, else it
// is shared/data beside the module or beside a folder above. Where there is
// none, the test is skipped with a message.
func Data(t testing.TB) string {
	t.Helper()
	dir, ok := FindData()
	if !ok {
		t.Skip("no shared data here, nothing tried: CTXDB_DATA can name their folder")
	}
	return dir
}

// FindData is Data for those who have no test; ok tells whether there is any.
func FindData() (dir string, ok bool) {
	if dir := os.Getenv("CTXDB_DATA"); dir != "" {
		return dir, true
	}
	at, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		dir := filepath.Join(filepath.Dir(at), "shared", "data")
		if _, err := os.Stat(filepath.Join(dir, "README.md")); err == nil {
			return dir, true
		}
	}
	return "", false
}
