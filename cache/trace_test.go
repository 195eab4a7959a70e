package cache

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ctxdb/fuzz/trial"
)

type ref struct {
	key  uint64
	size int64
}

// arcTrace reads "start count 0 number" lines, or a lone number for one page.
func arcTrace(t testing.TB, name string) []ref {
	f, err := os.Open(filepath.Join(trial.Data(t), "trace-arc", name))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var refs []ref
	lines := bufio.NewScanner(zr)
	for lines.Scan() {
		var start, count uint64
		if n, _ := fmt.Sscan(lines.Text(), &start, &count); n == 0 {
			continue
		} else if n == 1 {
			count = 1
		}
		for k := range count {
			refs = append(refs, ref{start + k, 1})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return refs
}

func cloudTrace(t testing.TB) []ref {
	raw, err := os.ReadFile(filepath.Join(trial.Data(t), "trace-libcachesim", "cloudPhysicsIO.oracleGeneral.bin"))
	if err != nil {
		t.Skip(err)
	}
	refs := make([]ref, 0, len(raw)/24)
	for ; len(raw) >= 24; raw = raw[24:] {
		refs = append(refs, ref{binary.LittleEndian.Uint64(raw[4:]), int64(binary.LittleEndian.Uint32(raw[12:]))})
	}
	return refs
}

// replay returns misses and the bytes of misses.
func replay(t testing.TB, policy Policy, budget int64, refs []ref) (misses, missed int64) {
	c, err := New(Options[uint64, struct{}]{Policy: policy, BudgetBytes: budget})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	load := func() (struct{}, error) { return struct{}{}, nil }
	for _, r := range refs {
		_, hit, err := c.Load(ctx, r.key, Cost{Bytes: r.size}, load)
		if err != nil {
			t.Fatal(err)
		}
		if !hit {
			misses++
			missed += r.size
		}
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	return misses, missed
}

// Hit ratios in per cent as published with the traces.
func TestARCTraces(t *testing.T) {
	if trial.Race {
		t.Skip("measures, in one goroutine")
	}
	for _, tc := range []struct {
		file  string
		refs  int
		ratio map[int64]string
	}{
		{"oltp.gz", 914145, map[int64]string{1000: "32.83", 2000: "42.47", 5000: "53.65", 10000: "60.70", 15000: "64.63"}},
		{"loop.gz", 505500, map[int64]string{256: "0.00", 512: "0.00", 768: "0.00", 1024: "99.80"}},
		{"p3.gz", 3912296, map[int64]string{1024: "1.05", 2048: "1.15", 4096: "1.32", 8192: "1.62", 16384: "2.07",
			32768: "3.57", 65536: "12.72", 131072: "44.79"}},
		{"gli.gz", 6015, map[int64]string{250: "0.91", 500: "0.95", 750: "1.15", 1000: "11.21", 1250: "21.25",
			1500: "36.56", 1750: "45.04", 2000: "57.41"}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			if trial.Brief() && tc.refs > 1_000_000 {
				t.Skip("a long trace")
			}
			refs := arcTrace(t, tc.file)
			if len(refs) != tc.refs {
				t.Fatalf("%d references, published %d", len(refs), tc.refs)
			}
			for pages, want := range tc.ratio {
				misses, _ := replay(t, LRU, pages, refs)
				got := fmt.Sprintf("%.2f", 100*float64(int64(len(refs))-misses)/float64(len(refs)))
				if got != want {
					t.Errorf("LRU, %d pages: hit ratio %s, published %s", pages, got, want)
				}
			}
		})
	}
}

// Misses as published by libCacheSim at 128, 256 ... 1,024 MiB.
func TestCloudPhysicsTrace(t *testing.T) {
	refs := cloudTrace(t)
	if len(refs) != 113872 {
		t.Fatalf("%d references, published 113872", len(refs))
	}
	missBytes := []int64{4214303232, 4061242368, 3778040320, 3660569600, 3100927488, 3078128640, 3075403776, 3061662720}
	for _, tc := range []struct {
		policy  Policy
		misses  []int64
		percent float64 // how far the result may be
	}{
		{LRU, []int64{93374, 89783, 83572, 81722, 72494, 72104, 71972, 71704}, 0},
		{CLOCK, []int64{93313, 89775, 83411, 81328, 74815, 72283, 71927, 64456}, 0},
		{S3FIFO, []int64{89307, 82387, 77041, 76791, 71300, 70343, 70455, 70355}, 0.01},
		{GDSF, []int64{89068, 84750, 74853, 70488, 67919, 64180, 61029, 58721}, 0},
	} {
		t.Run(string(tc.policy), func(t *testing.T) {
			for i, want := range tc.misses[:trial.Size(len(tc.misses), 2)] {
				got, gotBytes := replay(t, tc.policy, int64(i+1)*128<<20, refs)
				t.Logf("%d MiB: %d misses, published %d (%+.3f %%)", (i+1)*128, got, want, 100*float64(got-want)/float64(want))
				if diff := 100 * float64(max(got-want, want-got)) / float64(want); diff > tc.percent {
					t.Errorf("%d MiB: %d misses, published %d", (i+1)*128, got, want)
				}
				if tc.policy == LRU && gotBytes != missBytes[i] {
					t.Errorf("%d MiB: %d bytes missed, published %d", (i+1)*128, gotBytes, missBytes[i])
				}
			}
		})
	}
}
