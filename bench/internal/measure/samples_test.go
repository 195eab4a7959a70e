package measure

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestQuantiles(t *testing.T) {
	var s Samples
	for i := range 100 {
		s = append(s, time.Duration(100-i)*time.Microsecond)
	}
	for q, want := range map[float64]float64{0: 1, .5: 51, .99: 100, 1: 100} {
		if got := s.Micros(q); got != want {
			t.Errorf("quantile %v of 1 to 100: %v, want %v", q, got, want)
		}
	}
	if got := Samples(nil).Micros(.5); got != 0 {
		t.Errorf("quantile of nothing: %v", got)
	}
	for _, c := range []struct {
		all  []float64
		want float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := Median(c.all); got != c.want {
			t.Errorf("median of %v: %v, want %v", c.all, got, c.want)
		}
	}
}

func TestDropCacheTakesFilesAndFolders(t *testing.T) {
	if !CanDropCache {
		t.Skip("the page cache can't be dropped here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, path} {
		if err := DropCache(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	if err := DropCache(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent file's pages were dropped")
	}
	if n, err := Allocated(path); err != nil || n < 1<<20 {
		t.Errorf("a file of 1 MiB takes %d bytes: %v", n, err)
	}
}
