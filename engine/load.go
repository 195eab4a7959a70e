package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"ctxdb/format"
	"ctxdb/segment"
	"ctxdb/wal"
)

// loaded is the state of a file as it was read.
type loaded struct {
	view    *view
	slot    int64 // of the superblock that was taken
	nextLSN format.LSN
	twins   bool        // both slots are valid and say the same
	scan    *wal.Result // nil: no log
}

// load reads the newest state that is whole.
//
// Beside a live writer it takes the older superblock: the newer one may not be
// durable yet, and nothing that the older one names is reused while it is
// there. Turns that no promise covers are left out then.
func (db *DB) load(live bool) (*loaded, error) {
	supers, err := db.readSlots()
	if err != nil {
		return nil, err
	}
	if live {
		slices.Reverse(supers)
	}
	var first error
	for _, s := range supers {
		st, err := db.loadState(s, live)
		if err == nil {
			st.twins = len(supers) == 2 && sameState(supers)
			return st, nil
		}
		if !isDamage(err) {
			return nil, err
		}
		if first == nil {
			first = err
		}
		// The other slot is as good: nothing that it names is reused before
		// both have moved on.
	}
	return nil, first
}

// slotted is a superblock and where it was found.
type slotted struct {
	format.Superblock
	slot int64
}

// readSlots returns the valid superblocks, newest first.
func (db *DB) readSlots() ([]slotted, error) {
	b := make([]byte, 2*format.SuperblockSize)
	n, err := db.file.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: read the superblocks: %w", db.path, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: %s is %w; open it without Options.ReadOnly to begin a file in it", ErrNotCtxdb, db.path, ErrEmpty)
	}
	var valid []slotted
	var errs []error
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		s, err := format.DecodeSuperblock(b[min(int64(n), slot):min(int64(n), slot+format.SuperblockSize)], slot)
		switch {
		case errors.Is(err, ErrVersion):
			return nil, fmt.Errorf("%s: %w", db.path, err) // the newer program had the last word
		case err != nil:
			errs = append(errs, err)
		case s.State != format.StateCreating:
			valid = append(valid, slotted{s, slot})
		default:
			errs = append(errs, format.Corruptf("superblock", slot, "creation of the file did not finish; the next writer begins it anew"))
		}
	}
	if len(valid) == 2 && valid[1].Epoch > valid[0].Epoch {
		valid[0], valid[1] = valid[1], valid[0]
	}
	if len(valid) == 0 {
		return nil, slotsError(db.path, n, errs)
	}
	return valid, nil
}

// slotsError says what is wrong with a file of n bytes, or more, of which
// neither slot is valid.
func slotsError(path string, n int, errs []error) error {
	if errors.Is(errs[0], ErrNotCtxdb) && (n <= format.SlotB || errors.Is(errs[1], ErrNotCtxdb)) {
		return fmt.Errorf("%w: %s does not begin with a ctxdb superblock; it was left as it is", ErrNotCtxdb, path)
	}
	if n < 2*format.SuperblockSize { // all that is left of the file lies before the first extent
		return fmt.Errorf("%s: only %d bytes of a ctxdb file, which hold no turn; get the whole file: %w", path, n, errors.Join(errs...))
	}
	return fmt.Errorf("%s: neither superblock is whole; `ctxdb salvage` may read the rest: %w", path, errors.Join(errs...))
}

// loadState reads everything that one superblock names, and the log.
func (db *DB) loadState(s slotted, promisedOnly bool) (*loaded, error) {
	size, err := db.file.Size()
	if err != nil {
		return nil, err
	}
	if size < s.End && size <= format.FirstExtent {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, which hold no turn, its superblock reaches to %d; get the whole file", db.path, ErrTruncated, size, s.End)
	}
	if size < s.End {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, its superblock reaches to %d; get the whole file, or `ctxdb salvage` what is left", db.path, ErrTruncated, size, s.End)
	}
	v := &view{super: s.Superblock, root: &format.Root{}, nextID: s.NextID}
	if s.RootOffset != 0 {
		if err := db.loadCatalog(v); err != nil {
			return nil, err
		}
	}
	if a, b, found := overlap(v.used()); found {
		return nil, format.Corruptf("catalog", s.RootOffset, "two owners of one range: %d bytes at %d and %d bytes at %d", a.len, a.off, b.len, b.off)
	}
	db.openSegments(v)
	st := &loaded{view: v, slot: s.slot, nextLSN: s.NextLSN}
	if len(s.Log) > 0 {
		err = db.loadLog(st, promisedOnly)
	}
	return st, err
}

// loadCatalog reads root and leaves, each against the sum that names it.
func (db *DB) loadCatalog(v *view) error {
	s := &v.super
	b, err := db.read(s.RootOffset, s.RootLength)
	if err != nil {
		return err
	}
	if v.root, err = format.DecodeRoot(b, s.UUID, s.RootOffset, s.RootSum); err != nil {
		return err
	}
	next := uint64(1)
	for _, ref := range v.root.Leaves {
		b, err := db.read(ref.Offset, format.LeafSize)
		if err != nil {
			return err
		}
		entries, err := format.DecodeLeaf(b, s.UUID, ref.Offset, ref.Sum)
		if err != nil {
			return err
		}
		last := entries[len(entries)-1]
		if len(entries) != int(ref.Count) || entries[0].FirstID < next || last.EndID() > s.NextID {
			return format.Corruptf("catalog leaf", ref.Offset, "ids %d to %d where %d to %d are expected", entries[0].FirstID, last.EndID()-1, next, s.NextID-1)
		}
		next = last.EndID()
		v.leaves = append(v.leaves, entries)
	}
	v.lost = v.root.Lost
	return nil
}

// openSegments makes the readers of segments and of both sorts of runs. It reads nothing yet.
// Readers of the same segment in an earlier view are taken over.
func (db *DB) openSegments(v *view) {
	old := map[uint64]*segment.Segment{}
	if before := db.view.Load(); before != nil {
		for _, s := range before.segs {
			old[s.Entry().Number] = s
		}
	}
	for _, leaf := range v.leaves {
		for _, e := range leaf {
			s := old[e.Number]
			if s == nil || s.Entry() != e {
				s = segment.Open(db.file, db.path, v.super.UUID, e, db.readOptions())
			}
			v.segs = append(v.segs, s)
		}
	}
	for _, e := range v.root.Runs {
		v.runs = append(v.runs, segment.OpenRun(db.file, db.path, v.super.UUID, e, db.readOptions()))
	}
	v.vectors = db.openVectors(db.view.Load(), v.super.UUID, v.root.Vectors)
	v.clean, v.apart = uncovered(v)
}

func (db *DB) readOptions() segment.OpenOptions {
	return segment.OpenOptions{NoMap: db.opts.NoMap, Decoders: db.decoders}
}

// uncovered is the index of the first segment behind the last key run, and the
// segments before it whose keys are in no run.
func uncovered(v *view) (clean int, apart []*segment.Segment) {
	if len(v.root.Runs) == 0 {
		return 0, nil
	}
	runs := v.root.Runs
	for i, s := range v.segs {
		e := s.Entry()
		for len(runs) > 0 && e.FirstID >= runs[0].EndID {
			runs = runs[1:]
		}
		if len(runs) == 0 {
			return i, apart
		}
		if e.Keys > 0 && !covers(runs[0], e) {
			apart = append(apart, s)
		}
	}
	return len(v.segs), apart
}

// read reads n bytes at an offset. A file that is too short is ErrTruncated.
func (db *DB) read(off, n int64) ([]byte, error) {
	if size, err := db.file.Size(); err != nil {
		return nil, err
	} else if n < 0 || off > size-n {
		return nil, fmt.Errorf("%s: %w: %d bytes at offset %d are beyond its %d bytes", db.path, ErrTruncated, n, off, size)
	}
	b := make([]byte, n)
	if got, err := db.file.ReadAt(b, off); int64(got) < n {
		if err == io.EOF {
			return nil, fmt.Errorf("%s: %w: it ends within %d bytes at offset %d", db.path, ErrTruncated, n, off)
		}
		return nil, fmt.Errorf("%s: read %d bytes at offset %d: %w", db.path, n, off, err)
	}
	return b, nil
}

// used lists every extent that the view's superblock reaches.
func (v *view) used() []span {
	var all []span
	s := &v.super
	if s.RootOffset != 0 {
		all = append(all, span{off: s.RootOffset, len: s.RootLength})
	}
	for i, ref := range v.root.Leaves {
		all = append(all, span{off: ref.Offset, len: format.LeafSize})
		for _, e := range v.leaves[i] {
			all = append(all, span{off: e.Offset, len: e.Extent()})
		}
	}
	for _, r := range v.root.Runs {
		all = append(all, span{off: r.Offset, len: r.Length})
	}
	for _, r := range v.root.Vectors {
		all = append(all, span{off: r.Offset, len: r.Length})
	}
	for _, l := range v.root.Lost {
		if l.Offset != 0 && !sharesExtent(all, l) {
			all = append(all, span{off: l.Offset, len: l.Length})
		}
	}
	if v.root.ForgottenOffset != 0 {
		all = append(all, span{off: v.root.ForgottenOffset, len: format.AlignUp(v.root.ForgottenLength)})
	}
	if v.root.AsideOffset != 0 {
		all = append(all, span{off: v.root.AsideOffset, len: format.AlignUp(v.root.AsideLength)})
	}
	for _, x := range s.Log {
		all = append(all, span{off: x.Offset, len: x.Length})
	}
	return all
}

// reach is where the last extent ends that the view's superblock reaches.
func (v *view) reach() int64 {
	end := int64(format.FirstExtent)
	for _, u := range v.used() {
		end = max(end, u.end())
	}
	return end
}

// sharesExtent: several lost ranges may share the damaged bytes that are kept.
func sharesExtent(all []span, l format.LostRange) bool {
	for _, s := range all {
		if s.off == l.Offset && s.len == l.Length {
			return true
		}
	}
	return false
}

// isDamage reports whether an error says that bytes are not what the state
// promised: damage, or a state that has moved on.
func isDamage(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTruncated) || isRetired(err)
}

// isRetired reports whether a segment was closed because a newer view does
// without it.
func isRetired(err error) bool { return errors.Is(err, fs.ErrClosed) }
