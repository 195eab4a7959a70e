package disk

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkCrash takes crash images of a file of 4 MiB with so many unsynced
// writes of 4 KiB, as a log leaves them: behind one another, with a superblock.
func BenchmarkCrash(b *testing.B) {
	for _, writes := range []int{1, 16, 256} {
		m := NewMem(1)
		if err := m.Put("f", randomBytes(rand.New(rand.NewPCG(1, 1)), 4<<20)); err != nil {
			b.Fatal(err)
		}
		f, err := m.Open("f", true)
		if err != nil {
			b.Fatal(err)
		}
		p := make([]byte, 4096)
		for i := range writes {
			if err := WriteFull(f, p, int64(i+512)*4096); err != nil {
				b.Fatal(err)
			}
		}
		if err := WriteFull(f, p, 0); err != nil {
			b.Fatal(err)
		}
		for mode := range modeEnd {
			b.Run(fmt.Sprintf("writes=%d/mode=%v", writes, mode), func(b *testing.B) {
				b.ReportAllocs()
				var seed uint64
				for b.Loop() {
					seed++
					m.Crash(Variant{mode, seed})
				}
			})
		}
	}
}

func BenchmarkMemWriteSync(b *testing.B) {
	m := NewMem(1)
	if err := m.Put("f", make([]byte, 4<<20)); err != nil {
		b.Fatal(err)
	}
	benchWriteSync(b, m, "f")
}

func BenchmarkOSWriteSync(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 4<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	benchWriteSync(b, OS, path)
}

func benchWriteSync(b *testing.B, fsys FS, path string) {
	f, err := fsys.Open(path, true)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, 4096)
	for i := 0; b.Loop(); i++ {
		if err := WriteFull(f, p, int64(i%1024)*4096); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOSCheck(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := OS.Open(path, true)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
