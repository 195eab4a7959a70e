package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ctxdb/format"
)

// findings is what a wreck holds, by its structure.
type findings struct {
	w      *wreck
	uuid   format.UUID
	supers []slotted // valid, newest first

	headers []foundHeader
	edges   []foundEdge
	catalog []int64 // where the magic of a leaf or root is
	first   int64   // of the first segment header or log edge; -1: none

	named    []format.SegmentEntry // by the newest catalog that could be read
	listed   []format.SegmentEntry // by any other leaf
	recorded []format.LostRange    // of the newest catalog
	cycles   map[uint64]*cycle     // by salt
	nextID   uint64
}

type foundHeader struct {
	format.SegmentHeader
	at int64
}

type foundEdge struct {
	uuid format.UUID
	x    format.LogExtent
}

// explore finds everything in a wreck that proves itself, reading it twice:
// until the UUID is known, frames and leaves can't be told from garbage.
func explore(ctx context.Context, w *wreck, r *SalvageReport) (*findings, error) {
	f := &findings{w: w, cycles: map[uint64]*cycle{}, nextID: 1}
	if err := f.readSupers(); err != nil {
		return nil, err
	}
	if err := f.findHeaders(ctx); err != nil {
		return nil, err
	}
	r.FileBytes, r.ShiftedBytes = w.size, w.base
	if !f.choose(r) {
		return nil, fmt.Errorf("%w: no superblock, no segment and no log extent in %d bytes", ErrNotCtxdb, w.size)
	}
	r.UUID, r.Superblocks = f.uuid.String(), len(f.supers)
	unknown := uint64(0)
	for i := range f.supers {
		f.sawID(f.supers[i].NextID)
		unknown |= f.supers[i].WriteFeatures | f.supers[i].OptionalFeatures
	}
	if unknown != 0 {
		r.UnknownFeatures = fmt.Sprintf("%#x", unknown)
	}
	if err := f.readCatalog(); err != nil {
		return nil, err
	}
	if err := f.readLeaves(); err != nil {
		return nil, err
	}
	f.beginCycles()
	if err := w.scan(ctx, f.findFrames); err != nil {
		return nil, err
	}
	for _, c := range f.cycles {
		r.Frames += len(c.frames)
	}
	f.confirmCycles()
	r.ScannedBytes = w.scanned
	return f, nil
}

// sawID notes that ids below next were given.
func (f *findings) sawID(next uint64) {
	f.nextID = max(f.nextID, min(next, format.MaxTurns+1))
}

// readSupers reads the superblocks. A newer program's file is left alone: what
// it needs may be the knowledge that a turn was forgotten.
func (f *findings) readSupers() error {
	f.supers = nil
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		s, err := format.DecodeSuperblock(f.w.bytes(slot, format.SuperblockSize), slot)
		if errors.Is(err, ErrVersion) {
			return err
		}
		if err == nil && s.State != format.StateCreating {
			f.supers = append(f.supers, slotted{s, slot})
		}
	}
	if len(f.supers) == 2 && f.supers[1].Epoch > f.supers[0].Epoch {
		slices.Reverse(f.supers)
	}
	return nil
}

// findHeaders looks for what says itself to which file it belongs. Where the
// superblocks are not in their places but further on, the file was shifted.
func (f *findings) findHeaders(ctx context.Context) error {
	moved, base := int64(-1), int64(0)
	f.first = -1
	err := f.w.scan(ctx, func(b []byte, off int64, n int) {
		if len(f.supers) == 0 && moved < 0 && f.first < 0 { // behind a header it is a file inside a turn
			eachSuper(b, n, func(i int) {
				if at, ok := superStart(b[i:], off+int64(i)); ok && moved < 0 {
					moved, base = off+int64(i), at
				}
			})
		}
		eachMagic(b, n, func(i int) { f.header(b[i:], off+int64(i)) })
	})
	if err != nil || moved < 0 || f.first >= 0 && f.first < moved { // the header may be in the same chunk
		return err
	}
	f.w.base = base
	f.headers, f.edges, f.catalog = nil, nil, nil
	if err := f.readSupers(); err != nil || len(f.supers) == 0 {
		return err
	}
	return f.findHeaders(ctx)
}

// superStart reads a superblock at an offset where none should be, and says where
// its file begins.
func superStart(b []byte, off int64) (at int64, ok bool) {
	b = b[:min(format.SuperblockSize, len(b))]
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		if _, err := format.DecodeSuperblock(b, slot); off != slot && (err == nil || errors.Is(err, ErrVersion)) {
			return off - slot, true
		}
	}
	return 0, false
}

// header takes the structure that b may begin with.
func (f *findings) header(b []byte, at int64) {
	switch string(b[:8]) {
	case "ctxsegm\n":
		if h, err := format.DecodeSegmentHeader(b, at); err == nil {
			f.headers = append(f.headers, foundHeader{h, at})
			f.saw(at)
		}
	case "ctxlogh\n", "ctxlogt\n":
		if e, ok := decodeEdge(b, at); ok {
			f.edges = append(f.edges, e)
			f.saw(at)
		}
	case "ctxleaf\n", "ctxroot\n":
		if at%format.ExtentAlign == 0 {
			f.catalog = append(f.catalog, at)
		}
	}
}

func (f *findings) saw(at int64) {
	if f.first < 0 {
		f.first = at
	}
}

// decodeEdge reads a header or trailer of a log extent that says itself which.
func decodeEdge(b []byte, at int64) (e foundEdge, ok bool) {
	if len(b) < format.LogEdge {
		return e, false
	}
	le := binary.LittleEndian
	e.uuid = format.UUID(b[8:24])
	e.x = format.LogExtent{Cycle: le.Uint64(b[24:]), Salt: le.Uint64(b[32:]), Offset: int64(le.Uint64(b[40:])), Length: int64(le.Uint64(b[48:]))}
	trailer := b[6] == 't'
	place := e.x.Offset
	if trailer {
		place += e.x.Length - format.LogEdge
	}
	return e, place == at && e.x.Offset >= 0 && e.x.Length >= format.MinLogExtent && e.x.Length <= format.MaxLogExtent && format.CheckLogEdge(b, e.uuid, e.x, trailer) == nil
}

// choose decides which file this is: a superblock says so, unless all else is of
// another file; without one what is bound to its place counts, then the majority.
// A whole file may be stored in a turn.
func (f *findings) choose(r *SalvageReport) bool {
	votes := map[format.UUID]int{}
	for _, h := range f.headers {
		votes[h.UUID]++
	}
	for _, e := range f.edges {
		votes[e.uuid] += 1 << 30
	}
	best, found := format.UUID{}, false
	for id, n := range votes {
		if !found || n > votes[best] || n == votes[best] && id.String() < best.String() {
			best, found = id, true
		}
	}
	for i := len(f.supers) - 1; i >= 0; i-- {
		if id := f.supers[i].UUID; votes[id] > 0 || len(votes) == 0 {
			best, found = id, true
		}
	}
	f.uuid = best
	n := len(f.supers) + len(f.headers) + len(f.edges)
	f.supers = slices.DeleteFunc(f.supers, func(s slotted) bool { return s.UUID != best })
	f.headers = slices.DeleteFunc(f.headers, func(h foundHeader) bool { return h.UUID != best })
	f.edges = slices.DeleteFunc(f.edges, func(e foundEdge) bool { return e.uuid != best })
	r.Foreign = n - len(f.supers) - len(f.headers) - len(f.edges)
	return found
}

// readCatalog takes the newest catalog that a superblock names, as far as it can
// be read.
func (f *findings) readCatalog() error {
	for i := range f.supers {
		s := &f.supers[i]
		if s.RootOffset == 0 {
			return nil // nothing was ever put away
		}
		root, err := format.DecodeRoot(f.w.bytes(s.RootOffset, s.RootLength), f.uuid, s.RootOffset, s.RootSum)
		if err != nil {
			continue
		}
		if err := unionForgotten(root); err != nil {
			return err
		}
		f.recorded = root.Lost
		for _, ref := range root.Leaves {
			if entries, err := format.DecodeLeaf(f.w.bytes(ref.Offset, format.LeafSize), f.uuid, ref.Offset, ref.Sum); err == nil {
				f.named = append(f.named, entries...)
			}
		}
		return nil
	}
	return nil
}

// readLeaves takes every leaf that is still there, of whatever age, and looks at
// the roots of one block.
func (f *findings) readLeaves() error {
	for _, at := range f.catalog {
		b := f.w.bytes(at, format.LeafSize)
		if len(b) < format.LeafSize {
			continue
		}
		sum := binary.LittleEndian.Uint64(b[format.LeafSize-8:])
		if entries, err := format.DecodeLeaf(b, f.uuid, at, sum); err == nil {
			f.listed = append(f.listed, entries...)
		}
		if root, err := format.DecodeRoot(b, f.uuid, at, sum); err == nil {
			if err := unionForgotten(root); err != nil {
				return err
			}
		}
	}
	return nil
}

// unionForgotten is where the sets of forgotten ids will be united: those of all
// roots and segments that are found, before any turn is taken. Version 1 does
// not forget; a file that did needs a newer program.
func unionForgotten(root *format.Root) error {
	if root.ForgottenOffset != 0 {
		return fmt.Errorf("%w: it has forgotten turns, which this program can't leave out", ErrVersion)
	}
	return nil
}
