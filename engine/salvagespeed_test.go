package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// BenchmarkSalvage measures a file of turns of about 2 KB of text that does not
// compress well, whole and without superblocks and catalog.
func BenchmarkSalvage(b *testing.B) {
	dir := b.TempDir()
	src := filepath.Join(dir, "src")
	makeLarge(b, src, 64<<20)
	for _, wrecked := range []bool{false, true} {
		if wrecked {
			whole, err := os.ReadFile(src)
			if err != nil {
				b.Fatal(err)
			}
			clear(whole[:12288])
			zeroMagic(whole, "ctxleaf\n", 4096)
			zeroMagic(whole, "ctxroot\n", 4096)
			if err := os.WriteFile(src, whole, 0o600); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("catalog=%v", !wrecked), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				dst := filepath.Join(dir, fmt.Sprint(wrecked, i))
				var peak uint64
				r, err := SalvageWith(ctx, dst, src, SalvageOptions{Progress: func(string, int64, int64) {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapInuse)
				}})
				if err != nil || r.LostTurns > 0 {
					b.Fatalf("%+v, %v", r, err)
				}
				b.SetBytes(r.FileBytes)
				b.ReportMetric(float64(r.Kept), "turns")
				b.ReportMetric(float64(peak>>20), "peak-heap-MiB")
				if err := os.Remove(dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// makeLarge writes turns until about n bytes of content are in a file.
func makeLarge(b *testing.B, path string, n int) {
	rng := rand.New(rand.NewPCG(1, 1))
	db := open(b, path, nil)
	for have := 0; have < n; {
		var batch []Turn
		for range 500 {
			text := make([]byte, 0, 2048)
			for len(text) < 2000 {
				text = fmt.Appendf(text, "%x ", rng.Uint32())
			}
			batch = append(batch, Turn{Role: "user", Content: text})
			have += len(text)
		}
		appendTurns(b, db, batch...)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}
