package vec

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

const chunkBytes = 256 << 10

// Reader serves encoded vectors where they lie. For many goroutines.
type Reader struct {
	r    io.ReaderAt
	sets []set
}

// set is the vectors of one model in one dimension.
type set struct {
	space
	ordinals []uint32
	rows     int64 // where they begin
}

// Set describes the vectors of one model in one dimension.
type Set struct {
	Model string
	Dims  int
	Count int
}

// Open reads the heads of encoded vectors of size bytes, of no more than maxSets
// sets: of no more than there are turns. r stays the caller's.
func Open(r io.ReaderAt, size int64, maxSets uint64) (*Reader, error) {
	v := &Reader{r: r}
	var head [headSize]byte
	if err := v.read(head[:], 0, size); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if le.Uint32(head[:]) == 1 {
		return v, v.openFirst(size)
	}
	if got := le.Uint32(head[:]); got != version {
		return nil, fmt.Errorf("%w: %d, this program reads 1 and %d", ErrVersion, got, version)
	}
	sets := le.Uint32(head[4:])
	if uint64(sets) > maxSets {
		return nil, corrupt("%d sets, where there are no more than %d", sets, maxSets)
	}
	at, seen := int64(headSize), map[space]bool{}
	for range sets {
		next, err := v.openSet(at, size, seen)
		if err != nil {
			return nil, err
		}
		at = next
	}
	if at != size {
		return nil, corrupt("%d bytes, its sets take %d", size, at)
	}
	return v, nil
}

// openFirst reads version 1: one set without a name.
func (v *Reader) openFirst(size int64) error {
	var head [firstSize]byte
	if err := v.read(head[:], 0, size); err != nil {
		return err
	}
	le := binary.LittleEndian
	end, err := v.addSet(space{"", int(le.Uint32(head[4:]))}, int64(le.Uint32(head[8:])), firstSize, size)
	if err == nil && end != size {
		err = corrupt("%d bytes, its vectors take %d", size, end)
	}
	return err
}

// openSet reads a set that none of the seen ones equals.
func (v *Reader) openSet(at, size int64, seen map[space]bool) (end int64, err error) {
	var head [setSize]byte
	if err := v.read(head[:], at, size); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	n := le.Uint32(head[0:])
	if n > maxName {
		return 0, corrupt("a model's name of %d bytes", n)
	}
	name := make([]byte, padded(int(n)))
	if err := v.read(name, at+setSize, size); err != nil {
		return 0, err
	}
	s := space{string(name[:n]), int(le.Uint32(head[4:]))}
	if seen[s] {
		return 0, corrupt("two sets of model %q and %d dimensions", s.model, s.dims)
	}
	seen[s] = true
	return v.addSet(s, int64(le.Uint32(head[8:])), at+setSize+int64(len(name)), size)
}

// addSet reads the ordinals of a set, which begin at an offset.
func (v *Reader) addSet(s space, count, at, size int64) (end int64, err error) {
	if s.dims < 1 || s.dims > maxDims || count < 1 || count > math.MaxInt/8 || count*(8+int64(s.dims)) > size-at {
		return 0, corrupt("%d vectors of %d dimensions in %d bytes", count, s.dims, size-at)
	}
	b := make([]byte, 4*count)
	if err := v.read(b, at, size); err != nil {
		return 0, err
	}
	o := make([]uint32, count)
	for i := range o {
		o[i] = binary.LittleEndian.Uint32(b[4*i:])
		if i > 0 && o[i] <= o[i-1] {
			return 0, corrupt("turn %d behind turn %d", o[i], o[i-1])
		}
	}
	v.sets = append(v.sets, set{s, o, at + 4*count})
	return at + count*(8+int64(s.dims)), nil
}

// read fills b from an offset of size bytes.
func (v *Reader) read(b []byte, at, size int64) error {
	if at+int64(len(b)) > size {
		return corrupt("%d bytes at %d of %d", len(b), at, size)
	}
	n, err := v.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return corrupt("it ends within %d bytes at %d", len(b), at)
	}
	return err
}

// Sets lists what is there.
func (v *Reader) Sets() []Set {
	all := make([]Set, len(v.sets))
	for i, s := range v.sets {
		all[i] = Set{s.model, s.dims, len(s.ordinals)}
	}
	return all
}

// Scan compares the query with every vector of its model and dimension: see is
// called with the turn's ordinal and the cosine, within about a hundredth of the
// exact one.
func (v *Reader) Scan(model string, query []float32, see func(ordinal uint32, cosine float64)) error {
	ql := length(query)
	if ql == 0 {
		return nil
	}
	for i := range v.sets {
		if s := &v.sets[i]; s.space == (space{model, len(query)}) {
			return v.rows(s, func(ordinal uint32, l float64, b []byte) {
				if l > 0 {
					see(ordinal, dot(query, b)/l/ql)
				}
			})
		}
	}
	return nil
}

// Check reads every byte. Each turn is below end.
func (v *Reader) Check(end uint64) error {
	for i := range v.sets {
		s := &v.sets[i]
		if last := s.ordinals[len(s.ordinals)-1]; uint64(last) >= end {
			return corrupt("turn %d of %d", last, end)
		}
		if err := v.rows(s, func(uint32, float64, []byte) {}); err != nil {
			return err
		}
	}
	return nil
}

// All gives every vector back, as far as 8 bits keep it: its direction, not its
// length. Encoded again they are the same bytes.
func (v *Reader) All() (all []Vector, err error) {
	for i := range v.sets {
		s := &v.sets[i]
		err := v.rows(s, func(ordinal uint32, _ float64, b []byte) {
			values := make([]float32, len(b))
			for j, x := range b {
				values[j] = float32(int8(x))
			}
			all = append(all, Vector{Ordinal: ordinal, Model: s.model, Values: values})
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rows reads the rows of a set, a chunk at a time.
func (v *Reader) rows(s *set, see func(ordinal uint32, length float64, b []byte)) error {
	row := 4 + s.dims
	perChunk := max(chunkBytes/row, 1)
	buf := make([]byte, min(perChunk, len(s.ordinals))*row)
	for i := 0; i < len(s.ordinals); i += perChunk {
		n := min(perChunk, len(s.ordinals)-i)
		if err := v.read(buf[:n*row], s.rows+int64(i)*int64(row), math.MaxInt64); err != nil {
			return err
		}
		for j := range n {
			b := buf[j*row : (j+1)*row]
			see(s.ordinals[i+j], float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), b[4:])
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
