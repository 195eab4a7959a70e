package wal

import (
	"fmt"
	"path/filepath"
	"testing"

	"ctxdb/format"
	"ctxdb/format/disk"
)

func BenchmarkCommit(b *testing.B) {
	x := format.LogExtent{Offset: 12288, Length: 4 << 20, Cycle: 1, Salt: 77}
	payload := make([]byte, 1024)
	for _, c := range []struct {
		disk string
		sync bool
	}{{"mem", false}, {"os", false}, {"os", true}} {
		b.Run(fmt.Sprintf("disk=%s/sync=%v/payload=1KiB", c.disk, c.sync), func(b *testing.B) {
			f := benchFile(b, c.disk)
			check(b, Prepare(f, testUUID, x), f.Sync())
			w := NewWriter(f, testUUID, x, 1)
			b.ReportAllocs()
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				if int64(len(payload)) > w.Room() {
					b.StopTimer()
					check(b, f.Sync()) // Mem keeps every unsynced write
					b.StartTimer()
					w = NewWriter(f, testUUID, x, w.Next())
				}
				if _, _, err := stage(w, w.Next()-1, 1, payload); err != nil {
					b.Fatal(err)
				}
				if err := w.Write(); err != nil {
					b.Fatal(err)
				}
				if c.sync {
					check(b, f.Sync())
				}
			}
		})
	}
}

func benchFile(b *testing.B, kind string) disk.File {
	if kind == "mem" {
		_, f := memFile(b, 1)
		return f
	}
	f, name, err := disk.OS.CreateTemp(filepath.Join(b.TempDir(), "log"))
	check(b, err)
	b.Cleanup(func() { check(b, f.Close(), disk.OS.Remove(name)) })
	return f
}

func BenchmarkScan(b *testing.B) {
	x := format.LogExtent{Offset: 12288, Length: 4 << 20, Cycle: 1, Salt: 77}
	for _, fill := range []string{"full", "empty", "torn"} {
		b.Run("extent=4MiB/fill="+fill, func(b *testing.B) {
			_, f := memFile(b, 1, x)
			w := NewWriter(f, testUUID, x, 1)
			w.Reserve(x.Length)
			payload := make([]byte, 1024)
			for fill != "empty" && w.Room() >= 1024 {
				_, _, err := stage(w, w.Next()-1, uint64(w.Next()), payload)
				check(b, err)
			}
			check(b, w.Write(), f.Sync())
			if fill == "torn" { // no header is left: every place is looked at
				check(b, disk.WriteFull(f, make([]byte, x.Length-2*format.LogEdge), framesAt(x)))
				junk := make([]byte, x.Length-2*format.LogEdge)
				for i := range junk {
					junk[i] = byte(i*7 + 1)
				}
				check(b, disk.WriteFull(f, junk, framesAt(x)), f.Sync())
			}
			b.SetBytes(x.Length)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan(f, testUUID, []format.LogExtent{x}, ScanOptions{FirstLSN: 1, NextID: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
