package format

import (
	"bytes"
	"encoding/binary"
)

// LeafRef names a leaf in the root.
type LeafRef struct {
	Offset  int64
	Sum     uint64
	FirstID uint64
	Count   uint32
}

// RunEntry names a key run.
type RunEntry struct {
	Offset  int64
	Length  int64
	FirstID uint64
	EndID   uint64
	Nonce   uint64
	Keys    uint64
	Level   uint32
}

// LostRange is a range of ids that were acknowledged and can't be read.
type LostRange struct {
	FirstID uint64
	Count   uint64
	Offset  int64 // the damaged bytes, kept
	Length  int64
}

// VectorEntry names a vector run: vectors that one model made of turns after
// they were appended.
type VectorEntry struct {
	Offset  int64
	Length  int64
	FirstID uint64 // every turn from this id on was looked at,
	EndID   uint64 // to below this one
	Nonce   uint64
	Model   uint64 // hash of the model's name
	Bytes   uint64 // of data in its pages
	Dims    uint32
	Vectors uint32
}

// Root is the root of the catalog.
type Root struct {
	Segments        uint64
	ForgottenOffset int64
	ForgottenLength int64
	ForgottenSum    uint64
	AsideOffset     int64
	AsideLength     int64
	AsideSum        uint64
	Leaves          []LeafRef
	Runs            []RunEntry
	Lost            []LostRange
	Vectors         []VectorEntry
}

// maxRoot bounds the space of a root, in bytes, before it is allocated.
const maxRoot = (rootHeaderSize + rootEntriesMax*(leafEntrySize+runEntrySize+lostRangeSize+vectorEntrySize) + 8 + ExtentAlign - 1) &^ (ExtentAlign - 1)

// Size is the space of the root, in whole extent units.
func (r *Root) Size() int64 {
	return AlignUp(rootHeaderSize + int64(len(r.Leaves))*leafEntrySize + int64(len(r.Runs))*runEntrySize + int64(len(r.Lost))*lostRangeSize + int64(len(r.Vectors))*vectorEntrySize + 8)
}

// Encode returns the bytes of the root that will lie at offset, and its checksum.
func (r *Root) Encode(uuid UUID, offset int64) (b []byte, sum uint64) {
	b = make([]byte, r.Size())
	le := binary.LittleEndian
	copy(b[0:8], rootMagic)
	le.PutUint32(b[8:], uint32(len(r.Leaves)))
	le.PutUint32(b[12:], uint32(len(r.Runs)))
	le.PutUint32(b[16:], uint32(len(r.Lost)))
	le.PutUint32(b[20:], uint32(len(r.Vectors)))
	le.PutUint64(b[24:], r.Segments)
	le.PutUint64(b[32:], uint64(r.ForgottenOffset))
	le.PutUint64(b[40:], uint64(r.ForgottenLength))
	le.PutUint64(b[48:], r.ForgottenSum)
	le.PutUint64(b[56:], uint64(r.AsideOffset))
	le.PutUint64(b[64:], uint64(r.AsideLength))
	le.PutUint64(b[72:], r.AsideSum)
	p := rootHeaderSize
	for _, x := range r.Leaves {
		x.encode(b[p:])
		p += leafEntrySize
	}
	for _, x := range r.Runs {
		x.encode(b[p:])
		p += runEntrySize
	}
	for _, x := range r.Lost {
		x.encode(b[p:])
		p += lostRangeSize
	}
	for _, x := range r.Vectors {
		x.encode(b[p:])
		p += vectorEntrySize
	}
	sum = bind(uuid, KindRoot, 0, uint64(offset), b[:len(b)-8])
	le.PutUint64(b[len(b)-8:], sum)
	return b, sum
}

// DecodeRoot reads a root that lies at offset and must have the checksum sum.
func DecodeRoot(b []byte, uuid UUID, offset int64, sum uint64) (*Root, error) {
	if len(b) < LeafSize || !bytes.Equal(b[0:8], rootMagic) {
		return nil, Corruptf("catalog root", offset, "no root")
	}
	le := binary.LittleEndian
	if le.Uint64(b[len(b)-8:]) != sum || bind(uuid, KindRoot, 0, uint64(offset), b[:len(b)-8]) != sum {
		return nil, Corruptf("catalog root", offset, "checksum differs from the superblock's")
	}
	leaves, runs, lost, vectors := le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint32(b[20:])
	r := &Root{
		Segments:        le.Uint64(b[24:]),
		ForgottenOffset: int64(le.Uint64(b[32:])),
		ForgottenLength: int64(le.Uint64(b[40:])),
		ForgottenSum:    le.Uint64(b[48:]),
		AsideOffset:     int64(le.Uint64(b[56:])),
		AsideLength:     int64(le.Uint64(b[64:])),
		AsideSum:        le.Uint64(b[72:]),
	}
	need := rootHeaderSize + int64(leaves)*leafEntrySize + int64(runs)*runEntrySize + int64(lost)*lostRangeSize + int64(vectors)*vectorEntrySize + 8
	if max(leaves, runs, lost, vectors) > rootEntriesMax || need > int64(len(b)) {
		return nil, Corruptf("catalog root", offset, "%d leaves, %d runs, %d lost ranges, %d vector runs in %d bytes", leaves, runs, lost, vectors, len(b))
	}
	p := rootHeaderSize
	for range leaves {
		r.Leaves = append(r.Leaves, decodeLeafRef(b[p:]))
		p += leafEntrySize
	}
	for range runs {
		r.Runs = append(r.Runs, decodeRunEntry(b[p:]))
		p += runEntrySize
	}
	for range lost {
		r.Lost = append(r.Lost, decodeLostRange(b[p:]))
		p += lostRangeSize
	}
	for range vectors {
		r.Vectors = append(r.Vectors, decodeVectorEntry(b[p:]))
		p += vectorEntrySize
	}
	if err := r.validate(offset); err != nil {
		return nil, err
	}
	if !r.disjoint(offset, int64(len(b))) {
		return nil, Corruptf("catalog root", offset, "two extents share space")
	}
	return r, nil
}

func (r *Root) validate(offset int64) error {
	segments := uint64(0)
	for i, x := range r.Leaves {
		if !validExtent(x.Offset, LeafSize, MaxFile) || x.FirstID < 1 || x.FirstID > MaxTurns || x.Count < 1 || x.Count > LeafEntries ||
			i > 0 && x.FirstID <= r.Leaves[i-1].FirstID {
			return Corruptf("catalog root", offset, "leaf entry %d breaks the rules", i)
		}
		segments += uint64(x.Count)
	}
	if segments != r.Segments {
		return Corruptf("catalog root", offset, "%d segments, its leaves have %d", r.Segments, segments)
	}
	if !validSpace(r.ForgottenOffset, r.ForgottenLength) {
		return Corruptf("catalog root", offset, "%d bytes of forgotten ids at %d", r.ForgottenLength, r.ForgottenOffset)
	}
	if !validSpace(r.AsideOffset, r.AsideLength) || r.AsideLength > MaxAside {
		return Corruptf("catalog root", offset, "an aside of %d bytes at %d", r.AsideLength, r.AsideOffset)
	}
	for i, x := range r.Runs {
		if !validExtent(x.Offset, x.Length, MaxFile) || x.FirstID < 1 || x.EndID <= x.FirstID || x.EndID > MaxTurns+1 ||
			x.Keys > uint64(x.Length/IndexPageSize*IndexPageEntries) || x.Level < 1 || i > 0 && x.FirstID < r.Runs[i-1].EndID {
			return Corruptf("catalog root", offset, "run entry %d breaks the rules", i)
		}
	}
	for i, x := range r.Lost {
		if x.FirstID < 1 || x.Count < 1 || x.FirstID > MaxTurns || x.Count > MaxTurns+1-x.FirstID ||
			!validSpace(x.Offset, x.Length) || x.Length%ExtentAlign != 0 || i > 0 && x.FirstID < r.Lost[i-1].FirstID+r.Lost[i-1].Count {
			return Corruptf("catalog root", offset, "lost range %d breaks the rules", i)
		}
	}
	for i, x := range r.Vectors {
		if !x.valid() || i > 0 && !r.Vectors[i-1].before(x) {
			return Corruptf("catalog root", offset, "vector entry %d breaks the rules", i)
		}
	}
	return nil
}

// valid: as many pages as the bytes fill, and room in them for the vectors.
func (x VectorEntry) valid() bool {
	return validExtent(x.Offset, x.Length, MaxFile) && x.FirstID >= 1 && x.EndID > x.FirstID && x.EndID <= MaxTurns+1 &&
		x.Bytes >= 1 && x.Bytes <= MaxVectorRun && int64(DataPages(int(x.Bytes)))*IndexPageSize == x.Length &&
		x.Dims <= MaxEmbedding && (x.Dims == 0) == (x.Vectors == 0) &&
		uint64(x.Vectors) <= x.EndID-x.FirstID && uint64(x.Vectors)*uint64(x.Dims) <= x.Bytes
}

// before: entries are sorted by model, then by id; runs of one model cover
// different turns.
func (x VectorEntry) before(next VectorEntry) bool {
	return x.Model < next.Model || x.Model == next.Model && x.EndID <= next.FirstID
}

// validSpace: nothing nowhere, or an extent that holds length bytes.
func validSpace(offset, length int64) bool {
	return offset == 0 && length == 0 || length > 0 && validExtent(offset, AlignUp(length), MaxFile)
}

// disjoint reports whether the root, its leaves, its runs and the forgotten
// ids have spaces of their own. Lost ranges may share the bytes they keep.
func (r *Root) disjoint(offset, length int64) bool {
	spans := make([]span, 0, 3+len(r.Leaves)+len(r.Runs)+len(r.Vectors))
	spans = append(spans, span{offset, offset + length})
	for _, x := range r.Leaves {
		spans = append(spans, span{x.Offset, x.Offset + LeafSize})
	}
	for _, x := range r.Runs {
		spans = append(spans, span{x.Offset, x.Offset + x.Length})
	}
	for _, x := range r.Vectors {
		spans = append(spans, span{x.Offset, x.Offset + x.Length})
	}
	if r.ForgottenOffset != 0 {
		spans = append(spans, span{r.ForgottenOffset, r.ForgottenOffset + AlignUp(r.ForgottenLength)})
	}
	if r.AsideOffset != 0 {
		spans = append(spans, span{r.AsideOffset, r.AsideOffset + AlignUp(r.AsideLength)})
	}
	return disjoint(spans)
}

func (x LeafRef) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(x.Offset))
	le.PutUint64(b[8:], x.Sum)
	le.PutUint64(b[16:], x.FirstID)
	le.PutUint32(b[24:], x.Count)
}

func decodeLeafRef(b []byte) LeafRef {
	le := binary.LittleEndian
	return LeafRef{Offset: int64(le.Uint64(b[0:])), Sum: le.Uint64(b[8:]), FirstID: le.Uint64(b[16:]), Count: le.Uint32(b[24:])}
}

func (x RunEntry) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(x.Offset))
	le.PutUint64(b[8:], uint64(x.Length))
	le.PutUint64(b[16:], x.FirstID)
	le.PutUint64(b[24:], x.EndID)
	le.PutUint64(b[32:], x.Nonce)
	le.PutUint64(b[40:], x.Keys)
	le.PutUint32(b[48:], x.Level)
}

func decodeRunEntry(b []byte) RunEntry {
	le := binary.LittleEndian
	return RunEntry{
		Offset: int64(le.Uint64(b[0:])), Length: int64(le.Uint64(b[8:])),
		FirstID: le.Uint64(b[16:]), EndID: le.Uint64(b[24:]),
		Nonce: le.Uint64(b[32:]), Keys: le.Uint64(b[40:]), Level: le.Uint32(b[48:]),
	}
}

func (x LostRange) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], x.FirstID)
	le.PutUint64(b[8:], x.Count)
	le.PutUint64(b[16:], uint64(x.Offset))
	le.PutUint64(b[24:], uint64(x.Length))
}

func decodeLostRange(b []byte) LostRange {
	le := binary.LittleEndian
	return LostRange{FirstID: le.Uint64(b[0:]), Count: le.Uint64(b[8:]), Offset: int64(le.Uint64(b[16:])), Length: int64(le.Uint64(b[24:]))}
}

func (x VectorEntry) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(x.Offset))
	le.PutUint64(b[8:], uint64(x.Length))
	le.PutUint64(b[16:], x.FirstID)
	le.PutUint64(b[24:], x.EndID)
	le.PutUint64(b[32:], x.Nonce)
	le.PutUint64(b[40:], x.Model)
	le.PutUint64(b[48:], x.Bytes)
	le.PutUint32(b[56:], x.Dims)
	le.PutUint32(b[60:], x.Vectors)
}

func decodeVectorEntry(b []byte) VectorEntry {
	le := binary.LittleEndian
	return VectorEntry{
		Offset: int64(le.Uint64(b[0:])), Length: int64(le.Uint64(b[8:])),
		FirstID: le.Uint64(b[16:]), EndID: le.Uint64(b[24:]),
		Nonce: le.Uint64(b[32:]), Model: le.Uint64(b[40:]), Bytes: le.Uint64(b[48:]),
		Dims: le.Uint32(b[56:]), Vectors: le.Uint32(b[60:]),
	}
}
