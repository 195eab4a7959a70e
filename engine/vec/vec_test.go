package vec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"ctxdb/fuzz/trial"
)

// around is a vector of a cluster: a centre and as much noise.
func around(rng *rand.Rand, centre []float32) []float32 {
	v := make([]float32, len(centre))
	for i := range v {
		v[i] = centre[i] + float32(rng.NormFloat64())
	}
	return v
}

func read(t *testing.T, b []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(b), int64(len(b)), 100)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nearest lists the k best of scores, best first.
func nearest(scores []float64, k int) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, scores[b]-scores[a])) })
	return order[:k]
}

// TestRecallLoss measures what 8 bits lose against float32 among neighbours
// that are hard to tell apart: clusters with as much noise as distance.
func TestRecallLoss(t *testing.T) {
	if trial.Race {
		t.Skip("measures, in one goroutine")
	}
	const seed, clusters, queries, k = 3, 50, 100, 10
	n := 5000
	if testing.Short() {
		n = 1000
	}
	for _, dims := range []int{384, 1536} {
		rng := rand.New(rand.NewPCG(seed, seed))
		centres := make([][]float32, clusters)
		for i := range centres {
			centres[i] = around(rng, make([]float32, dims))
		}
		var all []Vector
		for i := range n {
			all = append(all, Vector{Ordinal: uint32(i), Values: around(rng, centres[i%clusters])})
		}
		r := read(t, Encode(all))
		same, wide, worst := 0, 0, 0.0
		for i := range queries {
			q := around(rng, centres[i%clusters])
			near, exact := make([]float64, n), make([]float64, n)
			if err := r.Scan("", q, func(o uint32, c float64) { near[o] = c }); err != nil {
				t.Fatal(err)
			}
			for j := range all {
				exact[j] = Cosine(q, all[j].Values)
				worst = max(worst, math.Abs(exact[j]-near[j]))
			}
			have := nearest(near, 2*k)
			for _, want := range nearest(exact, k) {
				if slices.Contains(have[:k], want) {
					same++
				}
				if slices.Contains(have, want) {
					wide++
				}
			}
		}
		total := float64(queries * k)
		t.Logf("seed %d, %d dimensions: the worst cosine differs by %.4f, %.4f of the %d nearest of %d are the same, %.4f are among the nearest %d",
			seed, dims, worst, float64(same)/total, k, n, float64(wide)/total, 2*k)
		if worst > 0.01 || float64(same)/total < 0.98 || float64(wide)/total < 0.999 {
			t.Errorf("8 bits lose more than that")
		}
	}
}

// TestSets: vectors of two models, or of two dimensions, are never compared.
func TestSets(t *testing.T) {
	all := []Vector{
		{0, "a", []float32{1, 0}}, {1, "b", []float32{1, 0}}, {2, "a", []float32{0, 1}}, {2, "b", []float32{3, 4}},
		{3, "a", []float32{1, 0, 0}}, {4, "", []float32{1, 0}}, {7, "a", []float32{0, 0}}, {8, "a", []float32{float32(math.NaN()), 1}},
	}
	b := Encode(all)
	r := read(t, b)
	want := []Set{{"a", 2, 2}, {"b", 2, 2}, {"a", 3, 1}, {"", 2, 1}}
	if got := r.Sets(); !slices.Equal(got, want) {
		t.Errorf("sets %+v", got)
	}
	for _, c := range []struct {
		model string
		query []float32
		want  []uint32
	}{
		{"a", []float32{1, 1}, []uint32{0, 2}}, {"b", []float32{1, 1}, []uint32{1, 2}}, {"a", []float32{1, 1, 1}, []uint32{3}},
		{"", []float32{1, 1}, []uint32{4}}, {"c", []float32{1, 1}, nil}, {"a", []float32{0, 0}, nil},
	} {
		var got []uint32
		if err := r.Scan(c.model, c.query, func(o uint32, _ float64) { got = append(got, o) }); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("model %q, %d dimensions: turns %v, %v", c.model, len(c.query), got, err)
		}
	}
	back, err := r.All()
	if err != nil || !bytes.Equal(Encode(back), b) {
		t.Errorf("encoded again they differ: %v, %v", back, err)
	}
	if Encode(all[6:]) != nil {
		t.Error("vectors without length were kept")
	}
	if Cosine([]float32{1}, []float32{1, 2}) != 0 {
		t.Error("different dimensions were compared")
	}
}

// first is version 1: dimensions 2, turns 1 and 9.
func first() []byte {
	b := make([]byte, 16, 40)
	for i, x := range []uint32{1, 2, 2, 0} {
		binary.LittleEndian.PutUint32(b[4*i:], x)
	}
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, 9)
	return appendQuantized(appendQuantized(b, []float32{1, 2}), []float32{-1, 2})
}

func TestVersionOne(t *testing.T) {
	r := read(t, first())
	if got := r.Sets(); !reflect.DeepEqual(got, []Set{{"", 2, 2}}) {
		t.Errorf("%+v", got)
	}
	all, err := r.All()
	if err != nil || all[1].Ordinal != 9 || Cosine(all[1].Values, []float32{-1, 2}) < 0.999 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestDamage: cut anywhere, or with a hostile number, it is ErrCorrupt or it
// opens and can be scanned; nothing is allocated that the bytes don't hold.
func TestDamage(t *testing.T) {
	for _, b := range [][]byte{first(), Encode([]Vector{{1, "model", []float32{1, 2}}, {9, "model", []float32{-1, 2}}, {9, "x", []float32{3}}})} {
		for n := range b {
			if _, err := Open(bytes.NewReader(b[:n]), int64(n), 100); !errors.Is(err, ErrCorrupt) {
				t.Errorf("cut at %d of %d: %v", n, len(b), err)
			}
			bad := slices.Clone(b)
			bad[n] = 0xff
			r, err := Open(bytes.NewReader(bad), int64(len(bad)), 100)
			if err == nil {
				_, err = r.All()
			}
			if version := n < 4; errors.Is(err, ErrVersion) != version || err != nil && !version && !errors.Is(err, ErrCorrupt) {
				t.Errorf("byte %d: %v", n, err)
			}
		}
	}
	twice := appendSet(Encode([]Vector{{1, "m", []float32{1}}}), space{"m", 1}, []Vector{{2, "m", []float32{1}}})
	twice[4] = 2
	if _, err := Open(bytes.NewReader(twice), int64(len(twice)), 100); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one set twice: %v", err)
	}
}

// TestManySets: there are no more sets than turns, which is seen before any set
// is read; as many as there are turns are fine, and take no time that grows as
// their square.
func TestManySets(t *testing.T) {
	const sets = 100_000
	b := Encode([]Vector{{1, "0", []float32{1}}})[:headSize]
	for i := range sets {
		b = appendSet(b, space{strconv.Itoa(i), 1}, []Vector{{1, "", []float32{1}}})
	}
	binary.LittleEndian.PutUint32(b[4:], sets)
	r, err := Open(bytes.NewReader(b), int64(len(b)), sets)
	if err != nil || len(r.Sets()) != sets {
		t.Fatalf("%d sets: %v", sets, err)
	}
	c := &counted{Reader: bytes.NewReader(b)}
	if _, err := Open(c, int64(len(b)), sets-1); !errors.Is(err, ErrCorrupt) || c.reads > 1 {
		t.Errorf("%d sets of %d turns: %v after %d reads", sets, sets-1, err, c.reads)
	}
}

// counted counts its reads.
type counted struct {
	*bytes.Reader
	reads int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.reads++
	return c.Reader.ReadAt(b, at)
}

func FuzzOpen(f *testing.F) {
	f.Add(Encode([]Vector{{1, "m", []float32{1, 2}}, {9, "", []float32{-1, 2}}}))
	f.Add(first())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Open(bytes.NewReader(b), int64(len(b)), 100)
		if err != nil {
			return
		}
		for _, s := range r.Sets() {
			if err := r.Scan(s.Model, make([]float32, s.Dims), func(uint32, float64) {}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.All(); err != nil {
			t.Fatal(err)
		}
	})
}
