package segment

import (
	"context"
	"iter"
	"slices"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// BuildRun lays the entries of a key run out in pages. It sorts them in place.
func BuildRun(uuid format.UUID, nonce uint64, entries []format.KeyEntry) []byte {
	sortKeys(entries)
	return keyPages(nil, uuid, nonce, entries)
}

func sortKeys(entries []format.KeyEntry) {
	slices.SortFunc(entries, func(a, b format.KeyEntry) int {
		switch {
		case a.Less(b):
			return -1
		case b.Less(a):
			return 1
		}
		return 0
	})
}

// keyPages appends index pages of sorted entries to dst.
func keyPages(dst []byte, uuid format.UUID, nonce uint64, entries []format.KeyEntry) []byte {
	dst = slices.Grow(dst, format.IndexPages(len(entries))*format.IndexPageSize)
	for number := 0; len(entries) > 0; number++ {
		n := min(len(entries), format.IndexPageEntries)
		at := len(dst)
		dst = append(dst, make([]byte, format.IndexPageSize)...)
		page := dst[at:]
		for i, e := range entries[:n] {
			format.PutKeyEntry(page, i, e)
		}
		format.SealPage(page, uuid, nonce, format.SectionKeys, number, n)
		entries = entries[n:]
	}
	return dst
}

// Run reads one key run. All methods may be called concurrently, and take a
// reference themselves for as long as they run.
type Run struct {
	region
	entry format.RunEntry
	pages pageSet
	bad   error // what the catalog's entry breaks; nil: nothing
}

// OpenRun describes the key run that the catalog's entry e names in f. There is
// no I/O before the first use. f stays the caller's and must outlive the run.
func OpenRun(f disk.File, path string, uuid format.UUID, e format.RunEntry, o OpenOptions) *Run {
	r := &Run{entry: e}
	r.region.init(f, path, e.Offset, e.Length, o.NoMap)
	r.bad = r.pages.init(&r.region, uuid, e.Nonce, format.Section{Type: format.SectionKeys, Length: e.Length, Entries: e.Keys})
	return r
}

// Entry is what the catalog says of the run.
func (r *Run) Entry() format.RunEntry { return r.entry }

// enter begins a read: it takes a reference, which the caller releases unless
// there is an error.
func (r *Run) enter() (*pageSet, error) {
	if !r.Acquire() {
		return nil, r.errClosed()
	}
	err := r.bad
	if err == nil {
		err = r.prepare()
	}
	if err != nil {
		r.Release()
		return nil, r.located(err)
	}
	return &r.pages, nil
}

// FindKey appends to dst the ids of the turns whose key has that hash, in
// order. Hashes collide: the key that is stored in a turn decides.
func (r *Run) FindKey(hash uint64, dst []uint64) ([]uint64, error) {
	pages, err := r.enter()
	if err != nil {
		return dst, err
	}
	defer r.Release()
	out, err := pages.findKey(hash, dst)
	return out, r.located(err)
}

// Keys goes through all entries in order, each page verified. The first error
// ends it.
func (r *Run) Keys() iter.Seq2[format.KeyEntry, error] {
	return func(yield func(format.KeyEntry, error) bool) {
		pages, err := r.enter()
		if err != nil {
			yield(format.KeyEntry{}, err)
			return
		}
		defer r.Release()
		if err := pages.each(yield); err != nil {
			yield(format.KeyEntry{}, r.located(err))
		}
	}
}

// Verify checks every page of the run and hands out what it finds wrong, until
// yield returns false.
func (r *Run) Verify(ctx context.Context, yield func(Finding) bool) error {
	pages, err := r.enter()
	if err != nil {
		yield(finding("key run", r.offset, r.entry.FirstID, r.entry.EndID-r.entry.FirstID, err))
		return ctx.Err()
	}
	defer r.Release()
	v := &verifier{region: &r.region, ctx: ctx, yield: yield}
	v.keyPages(pages, r.entry.FirstID, r.entry.EndID)
	return ctx.Err()
}
