package replay

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxdb/cache"
	"ctxdb/fuzz/trial"
)

func cloudTrace(t testing.TB) *Trace {
	raw, err := os.ReadFile(filepath.Join(trial.Data(t), "trace-libcachesim", "cloudPhysicsIO.oracleGeneral.bin"))
	if err != nil {
		t.Skip(err)
	}
	tr := &Trace{Name: "cloudPhysicsIO", IsPlain: true}
	ids := make(map[uint64]Item)
	for ; len(raw) >= 24; raw = raw[24:] {
		id := binary.LittleEndian.Uint64(raw[4:])
		it, ok := ids[id]
		if !ok {
			it = Item(len(ids))
			ids[id] = it
		}
		tr.Refs = append(tr.Refs, Ref{
			Step: Step(len(tr.Refs) + 1), Item: it, Parent: it, Size: int64(binary.LittleEndian.Uint32(raw[12:])),
		})
	}
	tr.Items = len(ids)
	return tr
}

// Belady-size within 1 % of what libCacheSim publishes, which samples; the bound
// below it and below every policy.
func TestCloudPhysics(t *testing.T) {
	tr := cloudTrace(t)
	published := map[int64]int64{128: 74329, 256: 64524, 384: 60279, 512: 56514, 640: 54539, 768: 52613, 896: 50581, 1024: 48974}
	if trial.Brief() {
		published = map[int64]int64{512: 56514}
	}
	for mib, want := range published {
		o := Options{Budget: mib << 20}
		run := belady(t, tr, o)
		off := 100 * float64(run.Faults-want) / float64(want)
		t.Logf("%4d MiB: Belady-size %d, published %d (%+.2f %%)", mib, run.Faults, want, off)
		if off > 1 || off < -1 {
			t.Errorf("%d MiB: Belady-size %d, published %d", mib, run.Faults, want)
		}
		if mib%384 != 128 { // three bounds will do
			continue
		}
		b := lowerBound(t, tr, o)
		t.Logf("%4d MiB: bound %.0f, PFOO-L %.0f", mib, b.Faults, b.PFOOL)
		if b.Faults > float64(run.Faults) || b.PFOOL > b.Faults {
			t.Errorf("%d MiB: PFOO-L %.0f, bound %.0f, Belady-size %d", mib, b.PFOOL, b.Faults, run.Faults)
		}
	}
	o := Options{Budget: 256 << 20, Policy: cache.LRU}
	if run := simulate(t, tr, o); run.Faults != 89783 || run.FaultSize != 4061242368 {
		t.Errorf("LRU at 256 MiB: %d misses of %d bytes, published 89783 of 4061242368", run.Faults, run.FaultSize)
	}
}

// The published traces are read, and what runs on them keeps its order.
func TestPagingTraces(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(trial.Data(t), "paging-traces", "*.csv"))
	if err != nil || len(paths) == 0 {
		t.Skip("no paging-traces: ", err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := os.ReadFile(path)
		tr, err := Read(filepath.Base(path), f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(string(raw), "\n") - 1; len(tr.Refs) != want {
			t.Errorf("%s: %d references in %d lines", tr.Name, len(tr.Refs), want)
		}
		for _, budget := range []int64{16000, 32000, 64000} {
			o := Options{Budget: budget}
			b, oracle := lowerBound(t, tr, o), belady(t, tr, o)
			if b.Faults > float64(oracle.Faults)+slack {
				t.Errorf("%s, %d: bound %g, Belady %d", tr.Name, budget, b.Faults, oracle.Faults)
			}
			for _, o.Policy = range cache.Policies() {
				if run := simulate(t, tr, o); float64(run.Faults) < b.Faults-slack || run.Peak > budget {
					t.Errorf("%s, %d: %+v, bound %g", tr.Name, budget, run, b.Faults)
				}
			}
		}
	}
}
