package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ctxdb/engine"
	"ctxdb/format/disk"
)

// floorFile is what a durable append costs at least: a pwrite and a sync of the
// same bytes into zero-filled space.
type floorFile struct {
	f  disk.File
	at int64
}

const floorSize = 4 << 20

func newFloor(b testing.TB) *floorFile {
	path := filepath.Join(b.TempDir(), "floor")
	must(b, os.WriteFile(path, nil, 0o600))
	f, err := disk.OS.Open(path, true)
	must(b, err)
	b.Cleanup(func() { f.Close() })
	must(b, disk.WriteZeros(f, 0, floorSize))
	must(b, f.Sync())
	return &floorFile{f: f}
}

func (f *floorFile) append(b testing.TB, p []byte) {
	if f.at+int64(len(p)) > floorSize {
		f.at = 0
	}
	_, err := f.f.WriteAt(p, f.at)
	must(b, err)
	must(b, f.f.Sync())
	f.at += int64(len(p)+7) &^ 7
}

// BenchmarkAppend appends single turns from one writer, each durable on return,
// alternately with the floor.
func BenchmarkAppend(b *testing.B) {
	for _, policy := range []engine.SyncPolicy{engine.SyncAlways, engine.SyncInterval, engine.SyncNever} {
		b.Run("sync="+string(policy), func(b *testing.B) {
			work := turns(b, 4096)
			db := openNew(b, &engine.Options{Sync: policy})
			floor := newFloor(b)
			var own, bare samples
			i := 0
			for b.Loop() {
				t := work[i%len(work)]
				t.Key = fmt.Sprint(i)
				own = append(own, timed(func() {
					_, err := db.Append(ctx, t)
					must(b, err)
				}))
				bare = append(bare, timed(func() { floor.append(b, t.Content) }))
				i++
			}
			own.report(b, "append")
			bare.report(b, "floor")
			b.ReportMetric(own.quantile(.5)/bare.quantile(.5), "p50-ratio")
		})
	}
}

// BenchmarkAppendWriters appends single turns from many goroutines: group
// commit shares each sync.
func BenchmarkAppendWriters(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			work := turns(b, 4096)
			db := openNew(b, nil)
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					for i := w; i < b.N; i += writers {
						t := work[i%len(work)]
						t.Key = fmt.Sprintf("%d/%d", b.N, i)
						if _, err := db.Append(ctx, t); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}
