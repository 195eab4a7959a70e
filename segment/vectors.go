package segment

import (
	"context"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// BuildVectorRun lays the bytes of a vector run out in pages.
//
// REQUIRES: 0 < len(data) <= format.MaxVectorRun.
func BuildVectorRun(uuid format.UUID, nonce uint64, data []byte) []byte {
	return dataPages(data, Identity{UUID: uuid, Nonce: nonce}, format.SectionVectors)
}

// VectorRun reads one vector run. It is an io.ReaderAt over the run's bytes,
// each page verified before any byte of it is handed out. All methods may be
// called concurrently, and take a reference themselves for as long as they run.
type VectorRun struct {
	region
	entry format.VectorEntry
	data  Data
}

// OpenVectorRun describes the vector run that the catalog's entry e names in f.
// There is no I/O before the first use. f stays the caller's and must outlive
// the run.
func OpenVectorRun(f disk.File, path string, uuid format.UUID, e format.VectorEntry, o OpenOptions) *VectorRun {
	r := &VectorRun{entry: e}
	r.region.init(f, path, e.Offset, e.Length, o.NoMap)
	r.data = Data{
		held: &r.region, region: &r.region, uuid: uuid, nonce: e.Nonce,
		section: format.Section{Type: format.SectionVectors, Length: e.Length, Entries: e.Bytes},
	}
	return r
}

// Entry is what the catalog says of the run.
func (r *VectorRun) Entry() format.VectorEntry { return r.entry }

// Size is the number of bytes of the run.
func (r *VectorRun) Size() int64 { return r.data.Size() }

// ReadAt follows io.ReaderAt.
func (r *VectorRun) ReadAt(p []byte, off int64) (n int, err error) {
	if !r.Acquire() {
		return 0, r.errClosed()
	}
	defer r.Release()
	if err := r.prepare(); err != nil {
		return 0, r.located(err)
	}
	return r.data.ReadAt(p, off)
}

// Verify checks every page of the run and hands out what it finds wrong, until
// yield returns false. What is wrong concerns no turn.
func (r *VectorRun) Verify(ctx context.Context, yield func(Finding) bool) error {
	if !r.Acquire() {
		return ctx.Err()
	}
	defer r.Release()
	if err := r.prepare(); err != nil {
		yield(finding("vector run", r.entry.Offset, 0, 0, r.located(err)))
		return ctx.Err()
	}
	r.data.verify(&verifier{region: &r.region, ctx: ctx, yield: yield}, 0, 0)
	return ctx.Err()
}
