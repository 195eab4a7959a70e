package bench

import (
	"os"
	"path/filepath"
	"testing"

	"ctxdb/bench/internal/measure"
	"ctxdb/engine"
)

// BenchmarkImport appends turns in batches of 1,000, each durable, to a new file and closes it.
func BenchmarkImport(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run("turns="+label(n), func(b *testing.B) {
			set := turns(b)
			var content, size int64
			b.ReportAllocs()
			for b.Loop() {
				path := filepath.Join(b.TempDir(), "import.ctxdb")
				db, err := engine.Open(path, nil)
				must(b, err)
				fill(b, db, set, 0, n)
				content = db.Stats().ContentBytes
				must(b, db.Close())
				st, err := os.Stat(path)
				must(b, err)
				size = st.Size()
				must(b, os.Remove(path))
			}
			b.SetBytes(content)
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "turns/s")
			b.ReportMetric(float64(size)/float64(content), "file/content")
		})
	}
}

// BenchmarkSeal puts a full log extent away: dictionary, blocks, index, catalog, superblocks.
func BenchmarkSeal(b *testing.B) {
	set := turns(b)
	var s measure.Samples
	var content int64
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "seal.ctxdb")
		db, err := engine.Open(path, &engine.Options{Inline: true, LogBytes: 64 << 20})
		must(b, err)
		fill(b, db, set, 0, batch)
		content = db.Stats().ContentBytes
		b.StartTimer()
		must(b, s.Time(func() error { return db.Checkpoint(ctx) }))
		b.StopTimer()
		must(b, db.Close())
		must(b, os.Remove(path))
		b.StartTimer()
	}
	b.SetBytes(content)
	report(b, "seal", s)
}
