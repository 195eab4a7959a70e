package vec

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// TestScan: the quantised cosine is near the exact one, and the best ten of a
// thousand are nearly always among its best twenty.
func TestScan(t *testing.T) {
	const seed, dims, n = 3, 96, 1000
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	var all []Vector
	for i := range n {
		all = append(all, Vector{Ordinal: uint32(3 * i), Values: random(rng, dims)})
	}
	b := Encode(all)
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	found, wanted := 0, 0
	for range 20 {
		q := random(rng, dims)
		near := map[uint32]float64{}
		if err := r.Scan(q, func(o uint32, c float64) { near[o] = c }); err != nil {
			t.Fatal(err)
		}
		exact := slices.Clone(all)
		slices.SortFunc(exact, func(a, b Vector) int {
			return int(math.Copysign(1, Cosine(q, b.Values)-Cosine(q, a.Values)))
		})
		order := make([]uint32, 0, n)
		for _, v := range all {
			if d := math.Abs(near[v.Ordinal] - Cosine(q, v.Values)); d > 0.01 {
				t.Fatalf("cosine of %d differs by %v", v.Ordinal, d)
			}
			order = append(order, v.Ordinal)
		}
		slices.SortFunc(order, func(a, b uint32) int { return int(math.Copysign(1, near[b]-near[a])) })
		for _, v := range exact[:10] {
			wanted++
			if slices.Contains(order[:20], v.Ordinal) {
				found++
			}
		}
	}
	t.Logf("%d of the %d best are among twice as many candidates", found, wanted)
	if found < wanted*99/100 {
		t.Errorf("only %d of %d", found, wanted)
	}
}

func TestOddVectors(t *testing.T) {
	if b := Encode([]Vector{{1, []float32{0, 0}}, {2, []float32{float32(math.NaN()), 1}}}); b != nil {
		t.Error("vectors without length were kept")
	}
	b := Encode([]Vector{{1, []float32{1, 2}}, {2, []float32{1, 2, 3}}})
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(r.ordinals) != 1 {
		t.Errorf("%v, %v", r, err)
	}
	if Cosine([]float32{1}, []float32{1, 2}) != 0 {
		t.Error("different dimensions were compared")
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(Encode([]Vector{{1, []float32{1, 2}}, {9, []float32{-1, 2}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if err := r.Scan(make([]float32, r.Dims()), func(uint32, float64) {}); err != nil {
			t.Fatal(err)
		}
	})
}
