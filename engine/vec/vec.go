// Package vec keeps the embeddings of a segment's turns for search: each
// vector as 8-bit numbers under one scale, a quarter of its size. [Reader.Scan]
// compares all of them with a query; who wants the exact cosine takes the best
// few and compares the embeddings that the turns themselves hold.
//
// The bytes, little-endian: u32 version, u32 dimensions, u32 count, u32
// reserved; count times u32 ordinal of the turn; then for each vector a float32
// that is its length in the units of its numbers, and a signed byte for each
// dimension.
package vec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	version    = 1
	headerSize = 16
	maxDims    = 8192
	chunkBytes = 256 << 10
)

// ErrCorrupt says that bytes are no encoded vectors.
var ErrCorrupt = errors.New("corrupt vectors")

// Vector is the embedding of a turn.
type Vector struct {
	Ordinal uint32 // of the turn in its segment
	Values  []float32
}

// Encode packs vectors of one dimension, in the order of their turns; nil for
// none. A vector of another dimension than the first, or without length, can't
// be compared and is left out.
func Encode(vectors []Vector) []byte {
	var kept []Vector
	for _, v := range vectors {
		if length(v.Values) > 0 && (len(kept) == 0 || len(v.Values) == len(kept[0].Values)) {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	le := binary.LittleEndian
	dims := len(kept[0].Values)
	out := make([]byte, headerSize, headerSize+len(kept)*(8+dims))
	le.PutUint32(out[0:], version)
	le.PutUint32(out[4:], uint32(dims))
	le.PutUint32(out[8:], uint32(len(kept)))
	for _, v := range kept {
		out = le.AppendUint32(out, v.Ordinal)
	}
	for _, v := range kept {
		out = appendQuantized(out, v.Values)
	}
	return out
}

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

// Reader serves encoded vectors where they lie. For many goroutines.
type Reader struct {
	r        io.ReaderAt
	dims     int
	ordinals []uint32
}

// Open reads the head of encoded vectors of size bytes. r stays the caller's.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	var head [headerSize]byte
	if size < headerSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, size)
	}
	if err := readFull(r, head[:], 0); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	v, dims, count := le.Uint32(head[0:]), int64(le.Uint32(head[4:])), int64(le.Uint32(head[8:]))
	if v != version || dims < 1 || dims > maxDims || headerSize+count*(8+dims) != size {
		return nil, fmt.Errorf("%w: version %d, %d vectors of %d dimensions in %d bytes", ErrCorrupt, v, count, dims, size)
	}
	b := make([]byte, 4*count)
	if err := readFull(r, b, headerSize); err != nil {
		return nil, err
	}
	o := make([]uint32, count)
	for i := range o {
		o[i] = le.Uint32(b[4*i:])
	}
	return &Reader{r: r, dims: int(dims), ordinals: o}, nil
}

func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return fmt.Errorf("%w: it ends within %d bytes at %d", ErrCorrupt, len(b), at)
	}
	return err
}

// Dims is the dimension of the vectors.
func (v *Reader) Dims() int { return v.dims }

// Scan compares the query with every vector: see is called with the turn's
// ordinal and the cosine, within about a hundredth of the exact one. A query of
// another dimension meets nothing.
func (v *Reader) Scan(query []float32, see func(ordinal uint32, cosine float64)) error {
	ql := length(query)
	if len(query) != v.dims || ql == 0 {
		return nil
	}
	row := 4 + v.dims
	perChunk := max(chunkBytes/row, 1)
	buf := make([]byte, min(perChunk, len(v.ordinals))*row)
	base := int64(headerSize + 4*len(v.ordinals))
	for i := 0; i < len(v.ordinals); i += perChunk {
		n := min(perChunk, len(v.ordinals)-i)
		if err := readFull(v.r, buf[:n*row], base+int64(i)*int64(row)); err != nil {
			return err
		}
		for j := range n {
			b := buf[j*row : (j+1)*row]
			l := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			if l > 0 {
				see(v.ordinals[i+j], dot(query, b[4:])/l/ql)
			}
		}
	}
	return nil
}

func dot(q []float32, b []byte) float64 {
	var s0, s1, s2, s3 float32
	b = b[:len(q)]
	i := 0
	for ; i+4 <= len(q); i += 4 {
		s0 += q[i] * float32(int8(b[i]))
		s1 += q[i+1] * float32(int8(b[i+1]))
		s2 += q[i+2] * float32(int8(b[i+2]))
		s3 += q[i+3] * float32(int8(b[i+3]))
	}
	for ; i < len(q); i++ {
		s0 += q[i] * float32(int8(b[i]))
	}
	return float64(s0 + s1 + s2 + s3)
}
