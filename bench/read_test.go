package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ctxdb/bench/internal/measure"
	"ctxdb/bench/internal/workload"
	"ctxdb/engine"
)

// label is a count with a letter for thousands and millions.
func label(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprint(n)
}

// BenchmarkOpen opens a closed file for writing and closes it again.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, faultTurns} {
		b.Run("turns="+label(n), func(b *testing.B) {
			path := sealed(b, turns(b), n)
			var s measure.Samples
			b.ReportAllocs()
			for b.Loop() {
				var db *engine.DB
				must(b, s.Time(func() (err error) { db, err = engine.Open(path, nil); return err }))
				b.StopTimer()
				must(b, db.Close())
				b.StartTimer()
			}
			report(b, "open", s)
		})
	}
}

// BenchmarkScan reads all turns in order.
func BenchmarkScan(b *testing.B) {
	set := turns(b)
	db := openAt(b, sealed(b, set, faultTurns), &engine.Options{ReadOnly: true})
	b.SetBytes(db.Stats().ContentBytes)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range db.Turns(1, 0) {
			must(b, err)
			n++
		}
		if n != faultTurns {
			b.Fatalf("%d turns", n)
		}
	}
	b.ReportMetric(float64(faultTurns)*float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// keys of the first n turns, made before anything is measured: making one allocates.
func keys(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = workload.Key(i)
	}
	return list
}

// BenchmarkLookup finds turns by their keys, those that are there and those that are not.
func BenchmarkLookup(b *testing.B) {
	set, keys := turns(b), keys(2*faultTurns)
	db := openAt(b, sealed(b, set, faultTurns), &engine.Options{ReadOnly: true})
	for _, present := range []bool{true, false} {
		b.Run(fmt.Sprintf("present=%t", present), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(workload.Seed, 2))
			var s measure.Samples
			b.ReportAllocs()
			for b.Loop() {
				i := rng.IntN(faultTurns)
				key := keys[i]
				if !present {
					key = keys[i+faultTurns]
				}
				var id engine.TurnID
				err := s.Time(func() (err error) { id, err = db.Lookup(key); return err })
				if present && int(id) != i+1 || present != (err == nil) {
					b.Fatalf("turn %d: %d, %v", i+1, id, err)
				}
			}
			report(b, "lookup", s)
		})
	}
}

// BenchmarkGetKey reads turns at random by their keys: by a look-up and a Get, and
// by both in one.
func BenchmarkGetKey(b *testing.B) {
	set, keys := turns(b), keys(faultTurns)
	db := openAt(b, sealed(b, set, faultTurns), &engine.Options{ReadOnly: true})
	for _, c := range []struct {
		name string
		read func(key string) (engine.Turn, error)
	}{
		{"apart", func(key string) (t engine.Turn, err error) {
			id, err := db.Lookup(key)
			if err == nil {
				t, err = db.Get(id)
			}
			return t, err
		}},
		{"one", db.GetKey},
	} {
		b.Run("calls="+c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(workload.Seed, 4))
			var s measure.Samples
			b.ReportAllocs()
			for b.Loop() {
				i := rng.IntN(faultTurns)
				var t engine.Turn
				must(b, s.Time(func() (err error) { t, err = c.read(keys[i]); return err }))
				if int(t.ID) != i+1 {
					b.Fatalf("turn %d: %d", i+1, t.ID)
				}
			}
			report(b, "get", s)
		})
	}
}

// BenchmarkGet reads whole turns at random, with all their fields.
func BenchmarkGet(b *testing.B) {
	set := turns(b)
	db := openAt(b, sealed(b, set, faultTurns), &engine.Options{ReadOnly: true})
	rng := rand.New(rand.NewPCG(workload.Seed, 3))
	var s measure.Samples
	b.ReportAllocs()
	for b.Loop() {
		id := engine.TurnID(1 + rng.IntN(faultTurns))
		must(b, s.Time(func() error { _, err := db.Get(id); return err }))
	}
	report(b, "get", s)
}
