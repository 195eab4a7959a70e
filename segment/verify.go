package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ctxdb/format"
)

// Finding is one thing that is wrong.
type Finding struct {
	Region  string // "segment header", "block", "source block", "index page", "turns", "sources" ...
	Offset  int64  // absolute, in bytes
	FirstID uint64 // of the turns that it concerns
	Count   uint64 // from the first to the last of them; 0: none is known
	Err     error
}

func finding(region string, offset int64, firstID, count uint64, err error) Finding {
	var c *format.CorruptError
	if errors.As(err, &c) {
		region, offset = c.Region, c.Offset
	}
	return Finding{Region: region, Offset: offset, FirstID: firstID, Count: count, Err: err}
}

// verifier hands out findings until nobody wants more.
type verifier struct {
	region *region
	ctx    context.Context
	yield  func(Finding) bool
	over   bool // yield said so, or the context ended
	count  int
}

func (v *verifier) report(f Finding) {
	v.count++
	if !v.over && !v.yield(f) {
		v.over = true
	}
}

func (v *verifier) stopped() bool {
	if v.ctx.Err() != nil {
		v.over = true
	}
	return v.over
}

// Verify checks every byte of the segment but padding: header, footer, section
// table, each block, piece, turn and source, and that the index pages and the
// catalog entry say what the blocks say. It hands out what it finds wrong until
// yield returns false. The error is the context's.
func (s *Segment) Verify(ctx context.Context, yield func(Finding) bool) error {
	v := &segmentVerifier{verifier: verifier{region: &s.region, ctx: ctx, yield: yield}, s: s}
	l, err := s.enter()
	if err != nil {
		v.report(finding("segment", s.offset, s.entry.FirstID, s.entry.Turns, err))
	} else {
		defer s.Release()
		v.hasDictionary = l.dictionary.Length > 0 && l.dictionary.Offset == format.SegmentHeaderSize
	}
	v.turns()
	if l != nil && !v.stopped() {
		v.index(l, &l.content, v.content)
		v.index(l, &l.source, v.source)
		v.keyIndex(l)
		v.dictionary(l)
		v.verifyData(l)
	}
	if v.count == 0 && !v.stopped() {
		v.totals()
	}
	return ctx.Err()
}

// segmentVerifier gathers what the blocks say.
type segmentVerifier struct {
	verifier
	s               *Segment
	content, source []format.BlockEntry // of intact blocks
	ordinals        [2][]uint32         // of the same
	keys            []format.KeyEntry   // of intact turns
	sum             format.SegmentEntry
	dictionaryAt    int64     // 0: none was met
	opened          [2]damage // of content and of sources
	hasDictionary   bool      // in its place, by the section table
	dictionaryTold  bool      // that it is damaged
	lastWhole       uint64    // the last intact turn
}

// turns reads everything by the blocks.
func (v *segmentVerifier) turns() {
	sc, err := v.s.newScan()
	if err != nil {
		v.report(finding("segment", v.s.offset, v.s.entry.FirstID, v.s.entry.Turns, err))
		return
	}
	defer v.s.Release()
	sc.content.w.onBlock, sc.source.w.onBlock = v.seen(format.StreamContent), v.seen(format.StreamSource)
	sc.content.w.onDamage, sc.source.w.onDamage = v.damaged(format.StreamContent), v.damaged(format.StreamSource)
	defer v.closeBoth()
	for !v.stopped() {
		t, ok, err := sc.next(v.ctx)
		var lost *RangeError
		if errors.As(err, &lost) {
			v.lost(lost)
		} else if err != nil {
			v.report(finding("segment", v.s.offset, v.s.entry.FirstID+sc.turn, v.s.entry.Turns-sc.turn, err))
			return
		}
		if !ok && err == nil {
			break
		}
		if ok {
			v.close(format.StreamContent)
			v.turn(&t)
		}
		if ok && err == nil && t.Record.HasSource {
			v.close(format.StreamSource)
		}
	}
	v.rest(&sc.content)
	v.rest(&sc.source)
}

func (v *segmentVerifier) turn(t *Turn) {
	v.lastWhole = t.ID
	addTurn(&v.sum, &t.Record)
	if t.Record.Key != "" {
		v.keys = append(v.keys, format.KeyEntry{Hash: format.HashKey(t.Record.Key), ID: t.ID})
	}
	if t.Record.ReplyTo >= t.ID {
		v.report(finding("turn record", v.s.offset, t.ID, 1, v.s.corrupt("turn record", 0, "turn %d replies to %d", t.ID, t.Record.ReplyTo)))
	}
}

// rest reads what lies behind the last turn: nothing should.
func (v *segmentVerifier) rest(p *pieces) {
	for !v.stopped() {
		piece, ok, err := p.next(v.ctx)
		if err != nil {
			v.report(finding("segment", v.s.offset+p.w.at, v.s.entry.FirstID, v.s.entry.Turns, v.s.located(err)))
		}
		if !ok {
			return
		}
		if id := v.s.entry.FirstID + uint64(piece.Turn); id > v.lastWhole && id < v.s.entry.EndID() {
			continue // of a turn that is lost at the segment's end
		}
		v.report(finding("block", p.sc.at, v.s.entry.FirstID+uint64(piece.Turn), 1, v.s.corrupt("block", p.sc.at-v.s.offset, "piece %d of turn %d is too many", piece.Part, uint64(piece.Turn)+v.s.entry.FirstID)))
	}
}

// seen notes each intact block of a stretch.
func (v *segmentVerifier) seen(stream format.Stream) func(*format.BlockHeader, int64) {
	return func(h *format.BlockHeader, offset int64) {
		e := format.BlockEntry{Turn: h.Turn, Part: h.Part, Offset: offset, Stored: h.Stored}
		switch {
		case h.Stream == format.StreamDictionary && offset == format.SegmentHeaderSize:
			v.dictionaryAt = offset
			if _, err := v.s.firstDictionary(); err != nil {
				v.dictionaryDamaged(err)
			}
			return
		case h.Stream != stream:
			v.report(finding("block", v.s.offset+offset, v.s.entry.FirstID+uint64(h.Turn), 1, v.s.corrupt("block", offset, "of stream %d among stream %d", h.Stream, stream)))
			return
		case stream == format.StreamContent:
			v.sum.RawBytes += uint64(h.Raw)
			v.content, v.ordinals[0] = append(v.content, e), append(v.ordinals[0], h.Ordinal)
		default:
			v.source, v.ordinals[1] = append(v.source, e), append(v.ordinals[1], h.Ordinal)
		}
	}
}

// index holds a section of block entries against the intact blocks.
func (v *segmentVerifier) index(l *layout, set *pageSet, blocks []format.BlockEntry) {
	if set == &l.source && set.entries == 0 && len(blocks) == 0 {
		return
	}
	ordinals := v.ordinals[0]
	if set == &l.source {
		ordinals = v.ordinals[1]
	}
	page := make([]byte, format.IndexPageSize)
	next := 0
	for i := 0; i < set.pages && !v.stopped(); i++ {
		err := set.load(page, i)
		begin, end := uint32(i*format.IndexPageEntries), uint32(i*format.IndexPageEntries+set.count(i))
		for ; next < len(blocks) && ordinals[next] < end; next++ {
			if err == nil && (ordinals[next] < begin || format.BlockEntryAt(page, int(ordinals[next]-begin)) != blocks[next]) {
				err = format.Corruptf("index page", set.at(i), "entry %d differs from its block", ordinals[next])
			}
		}
		if err != nil {
			v.report(finding("index page", set.at(i), v.s.entry.FirstID, v.s.entry.Turns, v.s.located(err)))
		}
	}
	if v.count == 0 && len(blocks) != set.entries || next < len(blocks) {
		v.report(finding("section table", set.at(0), v.s.entry.FirstID, v.s.entry.Turns, v.s.corrupt("section table", l.footer.TableOffset, "%d entries for %d blocks", set.entries, len(blocks))))
	}
}

// keyIndex holds the key section against the intact turns.
func (v *segmentVerifier) keyIndex(l *layout) {
	sortKeys(v.keys)
	found := v.keyPages(&l.keys, v.s.entry.FirstID, v.s.entry.EndID())
	for _, e := range v.keys {
		if v.stopped() {
			return
		}
		if _, ok := slices.BinarySearchFunc(found, e, compareKeys); !ok {
			v.report(finding("index page", l.keys.region.offset, e.ID, 1, v.s.corrupt("index page", l.keys.offset, "the key of turn %d is missing", e.ID)))
		}
	}
	if v.count == 0 && len(found) != len(v.keys) {
		v.report(finding("index page", v.s.offset, v.s.entry.FirstID, v.s.entry.Turns, v.s.corrupt("index page", l.keys.offset, "%d entries for %d keys", len(found), len(v.keys))))
	}
}

func compareKeys(a, b format.KeyEntry) int {
	return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.ID, b.ID))
}

// keyPages checks pages of key entries and returns those of the intact ones.
func (v *verifier) keyPages(set *pageSet, firstID, endID uint64) (found []format.KeyEntry) {
	page := make([]byte, format.IndexPageSize)
	for i := 0; i < set.pages && !v.stopped(); i++ {
		err := set.load(page, i)
		for j := 0; err == nil && j < set.count(i); j++ {
			e := format.KeyEntryAt(page, j)
			if n := len(found); n > 0 && !found[n-1].Less(e) || e.ID < firstID || e.ID >= endID {
				err = format.Corruptf("index page", set.at(i), "entry %d breaks the rules", j)
				break
			}
			found = append(found, e)
		}
		if err != nil {
			v.report(finding("index page", set.at(i), firstID, endID-firstID, v.region.located(err)))
		}
	}
	return found
}

// dictionary holds its section against the block.
func (v *segmentVerifier) dictionary(l *layout) {
	has := l.dictionary.Length > 0
	if has && l.dictionary.Offset != format.SegmentHeaderSize || !has && v.dictionaryAt != 0 {
		v.report(finding("section table", v.s.offset, v.s.entry.FirstID, v.s.entry.Turns, v.s.corrupt("section table", l.footer.TableOffset, "dictionary at %d", l.dictionary.Offset)))
		return
	}
	if !has {
		return
	}
	if _, _, err := v.s.readDictionary(l); err != nil {
		v.dictionaryDamaged(err)
	}
}

// totals holds the catalog entry against the turns. All of them were read.
func (v *segmentVerifier) totals() {
	e := v.s.entry
	got := e
	got.ContentBytes, got.SourceBytes, got.Tokens, got.RawBytes = v.sum.ContentBytes, v.sum.SourceBytes, v.sum.Tokens, v.sum.RawBytes
	got.MinTime, got.MaxTime, got.Keys, got.MetaTurns = v.sum.MinTime, v.sum.MaxTime, v.sum.Keys, v.sum.MetaTurns
	if got != e {
		v.report(finding("segment entry", e.Offset, e.FirstID, e.Turns, fmt.Errorf("%s: %w: totals of segment %d differ from its turns", v.region.path, format.ErrCorrupt, e.Number)))
	}
}
