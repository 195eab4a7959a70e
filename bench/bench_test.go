package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
)

var ctx = context.Background()

// batch is how many turns a bulk import appends at a time.
const batch = 1000

// report adds p50 and p99 in microseconds.
func report(b *testing.B, name string, s measure.Samples) {
	b.ReportMetric(s.Micros(.5), name+"-p50-us")
	b.ReportMetric(s.Micros(.99), name+"-p99-us")
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

var coding = sync.OnceValues(workload.Coding)

// turns of real coding sessions where the folder of real data is at hand.
func turns(b testing.TB) *workload.Set {
	set, err := coding()
	must(b, err)
	if !set.Real {
		b.Log("the folder of real data is absent: made turns")
	}
	return set
}

func openAt(b testing.TB, path string, o *engine.Options) *engine.DB {
	db, err := engine.Open(path, o)
	must(b, err)
	b.Cleanup(func() { db.Close() })
	return db
}

func openNew(b testing.TB, o *engine.Options) *engine.DB {
	return openAt(b, filepath.Join(b.TempDir(), "bench.ctxdb"), o)
}

// fill appends turns from <= i < to.
func fill(b testing.TB, db *engine.DB, set *workload.Set, from, to int) {
	for i := from; i < to; i += batch {
		_, err := db.Append(ctx, set.Slice(i, min(i+batch, to))...)
		must(b, err)
	}
}

// files that several benchmarks read, made once.
var files struct {
	sync.Mutex
	dir string
}

// sealed returns a closed file of n turns. It stays until all benchmarks are done: nobody may change it.
func sealed(b testing.TB, set *workload.Set, n int) string {
	files.Lock()
	defer files.Unlock()
	path := filepath.Join(files.dir, fmt.Sprintf("%d.ctxdb", n))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	db, err := engine.Open(path+".part", nil)
	must(b, err)
	fill(b, db, set, 0, n)
	must(b, db.Close())
	must(b, os.Rename(path+".part", path))
	return path
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ctxdb-bench")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	files.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
