// Package vec keeps the embeddings of turns for search: each vector as 8-bit
// numbers under one scale, a quarter of its size. [Reader.Scan] compares all of
// one model's with a query; who wants the exact cosine takes the best few and
// compares the embeddings that the turns themselves hold, where they do.
//
// Vectors lie in sets: one for each name of a model and dimension, so that two
// models are never compared. SPEC.md has the bytes, in section 9.
//
// What 8 bits lose against float32, with 100 queries over 5,000 made vectors in
// 50 clusters that have as much noise as distance: of the ten nearest 98.9 % are
// the same with 384 dimensions and 98.8 % with 1,536, all of them are among the
// nearest twenty, and no cosine differs by more than 0.0021 and 0.0011
// (go test -v -run RecallLoss ./engine/vec).
package vec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

const (
	version   = 2
	maxDims   = 8192
	maxName   = 1 << 10
	headSize  = 8  // of all
	setSize   = 16 // the fixed part of a set's head
	firstSize = 16 // head of version 1, which has one set without a name
)

var (
	// ErrCorrupt says that bytes are no encoded vectors.
	ErrCorrupt = errors.New("corrupt vectors")
	// ErrVersion says that another program encoded them, in another way.
	ErrVersion = errors.New("vectors of another version")
)

// Vector is the embedding of a turn.
type Vector struct {
	Ordinal uint32 // of the turn in its segment, or in its run
	Model   string // that made it; "": not said
	Values  []float32
}

// space is what vectors must share to be compared.
type space struct {
	model string
	dims  int
}

// Encode packs vectors, in the order of their turns; nil for none. A vector
// without length can't be compared and is left out.
func Encode(vectors []Vector) []byte {
	var order []space
	sets := map[space][]Vector{}
	for _, v := range vectors {
		if length(v.Values) == 0 {
			continue
		}
		s := space{v.Model, len(v.Values)}
		if sets[s] == nil {
			order = append(order, s)
		}
		sets[s] = append(sets[s], v)
	}
	if len(order) == 0 {
		return nil
	}
	le := binary.LittleEndian
	out := le.AppendUint32(nil, version)
	out = le.AppendUint32(out, uint32(len(order)))
	for _, s := range order {
		out = appendSet(out, s, sets[s])
	}
	return out
}

func appendSet(out []byte, s space, vectors []Vector) []byte {
	le := binary.LittleEndian
	for _, x := range []int{len(s.model), s.dims, len(vectors), 0} {
		out = le.AppendUint32(out, uint32(x))
	}
	out = append(out, s.model...)
	out = append(out, make([]byte, padded(len(s.model))-len(s.model))...)
	for _, v := range vectors {
		out = le.AppendUint32(out, v.Ordinal)
	}
	for _, v := range vectors {
		out = appendQuantized(out, v.Values)
	}
	return out
}

func padded(n int) int { return (n + 3) &^ 3 }

// length is the Euclidean length; 0 also for what holds no numbers.
func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0
	}
	return math.Sqrt(sum)
}

// Comparable reports whether a vector has a length, and so a direction.
func Comparable(v []float32) bool { return length(v) > 0 }

// appendQuantized writes a vector's numbers in 127ths of the largest. Those of
// what was quantised before come out as they are.
func appendQuantized(out []byte, v []float32) []byte {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	at := len(out)
	out = append(out, 0, 0, 0, 0)
	sum := 0.0
	for _, x := range v {
		q := math.Round(float64(x) / largest * 127)
		sum += q * q
		out = append(out, byte(int8(q)))
	}
	binary.LittleEndian.PutUint32(out[at:], math.Float32bits(float32(math.Sqrt(sum))))
	return out
}

// Cosine compares two vectors; 0 where they can't be compared.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	la, lb := length(a), length(b)
	if la == 0 || lb == 0 {
		return 0
	}
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum / la / lb
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(format, args...))
}

// EncodeRun packs vectors as Encode does, and none as an empty run.
func EncodeRun(vectors []Vector) []byte {
	if b := Encode(vectors); b != nil {
		return b
	}
	return binary.LittleEndian.AppendUint64(nil, version)
}
