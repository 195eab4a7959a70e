package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"ctxdb/bench/internal/measure"
	"ctxdb/engine"
	"ctxdb/format/disk"
)

var policies = []engine.SyncPolicy{engine.SyncAlways, engine.SyncInterval, engine.SyncNever}

// floorFile is what a durable append costs at least: a pwrite and a sync of the
// same bytes into zero-filled space.
type floorFile struct {
	f  *os.File
	at int64
}

const floorBytes = 4 << 20

func newFloor(b testing.TB) *floorFile {
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	must(b, err)
	b.Cleanup(func() { f.Close() })
	_, err = f.Write(make([]byte, floorBytes))
	must(b, err)
	must(b, f.Sync())
	return &floorFile{f: f}
}

func (f *floorFile) append(p []byte) error {
	p = p[:min(len(p), floorBytes)]
	if f.at+int64(len(p)) > floorBytes {
		f.at = 0
	}
	if _, err := f.f.WriteAt(p, f.at); err != nil {
		return err
	}
	f.at += int64(len(p)+7) &^ 7
	return measure.SyncData(f.f)
}

// BenchmarkAppend appends single turns from one writer, alternately with the
// floor, which syncs each time. Sealing goes on beside, as it does in use.
func BenchmarkAppend(b *testing.B) {
	for _, policy := range policies {
		b.Run("sync="+string(policy), func(b *testing.B) {
			set, db, floor := turns(b), openNew(b, &engine.Options{Sync: policy}), newFloor(b)
			var own, bare measure.Samples
			b.ReportAllocs()
			made := set.Slice(0, batch)
			i := 0
			for b.Loop() {
				if i == len(made) {
					b.StopTimer()
					made = append(made, set.Slice(i, i+batch)...)
					b.StartTimer()
				}
				t := made[i]
				must(b, own.Time(func() error { _, err := db.Append(ctx, t); return err }))
				must(b, bare.Time(func() error { return floor.append(t.Content) }))
				i++
			}
			report(b, "append", own)
			report(b, "floor", bare)
			b.ReportMetric(own.Micros(.5)/bare.Micros(.5), "p50-ratio")
		})
	}
}

// countedFS counts the syncs of its files.
type countedFS struct {
	disk.FS
	syncs atomic.Int64
}

type countedFile struct {
	disk.File
	fs *countedFS
}

func (c *countedFS) Open(path string, write bool) (disk.File, error) {
	f, err := c.FS.Open(path, write)
	if err != nil {
		return nil, err
	}
	return countedFile{f, c}, nil
}

func (f countedFile) Sync() error {
	f.fs.syncs.Add(1)
	return f.File.Sync()
}

// BenchmarkAppendWriters appends single turns from many goroutines: group
// commit shares each sync. turns/sync counts the syncs of sealing too.
func BenchmarkAppendWriters(b *testing.B) {
	for _, policy := range policies {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("writers=%d/sync=%s", writers, policy), func(b *testing.B) {
				appendWriters(b, writers, engine.Options{Sync: policy})
			})
		}
	}
	for _, writers := range []int{1, 64} { // a log that takes it all: what committing alone can do
		b.Run(fmt.Sprintf("writers=%d/sync=%s/log=64m", writers, engine.SyncAlways), func(b *testing.B) {
			appendWriters(b, writers, engine.Options{LogBytes: 64 << 20})
		})
	}
}

func appendWriters(b *testing.B, writers int, o engine.Options) {
	counted := &countedFS{FS: disk.OS}
	o.FS = counted
	set, db := turns(b), openNew(b, &o)
	before := counted.syncs.Load()
	all := make([]measure.Samples, writers)
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			for i := w; i < b.N; i += writers {
				t := set.At(i)
				if err := all[w].Time(func() error { _, err := db.Append(ctx, t); return err }); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	if n := counted.syncs.Load() - before; n > 0 {
		b.ReportMetric(float64(b.N)/float64(n), "turns/sync")
	}
	var together measure.Samples
	for _, s := range all {
		together = append(together, s...)
	}
	report(b, "append", together)
}
