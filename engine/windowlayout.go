package engine

import (
	"math"
	"math/bits"
	"time"

	"ctxdb/cache"
	"ctxdb/format"
)

// pageKey names a page: the turn's id, and the part in the lowest bits. A turn
// has fewer parts than partBits can count, since a page of minPageTokens has 32
// bytes or more and a content 256 MiB at most.
type pageKey uint64

const partBits = 23

func makePageKey(id TurnID, part int) pageKey { return pageKey(uint64(id)<<partBits | uint64(part)) }
func (k pageKey) id() TurnID                  { return TurnID(k >> partBits) }
func (k pageKey) part() int                   { return int(k & (1<<partBits - 1)) }

// cutter cuts content into pages.
type cutter struct {
	parts int // file parts of a page
	bytes int // cut each file part at this; 0: not at all
}

func newCutter(pageTokens int) cutter {
	switch {
	case pageTokens < 0:
		return cutter{parts: math.MaxInt}
	case pageTokens < defaultPageTokens:
		return cutter{parts: 1, bytes: pageTokens * format.PartSize / defaultPageTokens}
	}
	return cutter{parts: pageTokens / defaultPageTokens}
}

// pagePlace is where a page lies in its turn. A turn's content has less than
// 2^31 bytes.
type pagePlace struct {
	start, end int32 // in the content
	part, upto int32 // the file parts that hold it: part <= n < upto
	partStart  int32 // where the first of them starts in the content
	tokens     int64
}

func (p *pagePlace) cost() cache.Cost {
	return cache.Cost{Tokens: p.tokens, Bytes: int64(p.end - p.start)}
}

// pages cuts a content. There is at least one page.
func (c cutter) pages(content []byte) (all []pagePlace) {
	pos, part := 0, int32(0)
	for {
		p := pagePlace{start: int32(pos), partStart: int32(pos), part: part}
		for n := 0; n < c.parts && (n == 0 || pos < len(content)); n++ {
			pos += format.PartEnd(content[pos:])
			part++
		}
		p.end, p.upto = int32(pos), part
		all = c.finer(all, p, content)
		if pos >= len(content) {
			return all
		}
	}
}

// finer adds a page, cut as PartEnd would at c.bytes instead of PartSize.
func (c cutter) finer(all []pagePlace, p pagePlace, content []byte) []pagePlace {
	for rest := p; ; {
		b := content[rest.start:rest.end]
		if c.bytes == 0 || len(b) <= c.bytes+c.bytes/4 {
			return append(all, rest)
		}
		n := int32(cutAt(b, c.bytes))
		head := rest
		head.end = rest.start + n
		all = append(all, head)
		rest.start = head.end
	}
}

// cutAt is the length of the first page of b, which is longer than limit.
func cutAt(b []byte, limit int) int {
	for i := limit - 1; i >= limit/2; i-- {
		if b[i] == '\n' {
			return i + 1
		}
	}
	for i := limit; i >= limit-3; i-- {
		if b[i]&0xC0 != 0x80 {
			return i
		}
	}
	return limit
}

// layout is how a turn is cut, and what is asked about it again and again. It
// never changes, since a turn does not.
type layout struct {
	id     TurnID
	pages  []pagePlace
	cost   cache.Cost // of all pages: the turn's tokens, its content's bytes
	role   string
	thread string
	time   time.Time
	facts
}

// newLayout cuts a turn that was read whole.
func (w *Window) newLayout(t *Turn) *layout {
	l := &layout{
		id: t.ID, pages: w.cut.pages(t.Content), role: t.Role, thread: t.Thread, time: t.Time,
		cost:  cache.Cost{Tokens: int64(t.Tokens), Bytes: int64(len(t.Content))},
		facts: factsOf(t.ID, t.Role, t.ReplyTo, t.Tags, t.Entities, &w.opts),
	}
	l.count(t, w.db.opts.Tokenizer)
	return l
}

// count shares the turn's tokens out among its pages, in proportion to what the
// tokenizer counts in each: a page costs what it counts for, to within a token
// of rounding, and all of them together exactly what the turn costs, also where
// the caller counted it.
func (l *layout) count(t *Turn, tokenizer func([]byte) int) {
	if len(l.pages) == 1 {
		l.pages[0].tokens = int64(t.Tokens)
		return
	}
	weights := make([]uint64, len(l.pages))
	var sum, upTo uint64
	for i, p := range l.pages {
		weights[i] = uint64(max(tokenizer(t.Content[p.start:p.end]), 0))
		sum += weights[i]
	}
	if sum == 0 {
		for i, p := range l.pages {
			weights[i] = uint64(p.end - p.start)
			sum += weights[i]
		}
	}
	given := uint64(0)
	for i := range l.pages {
		upTo += weights[i]
		hi, lo := bits.Mul64(uint64(t.Tokens), upTo)
		due, _ := bits.Div64(hi, lo, sum) // upTo <= sum, so it fits
		l.pages[i].tokens = int64(due - given)
		given = due
	}
}

// layoutTable keeps the layouts of turns touched, the latest for sure.
//
// invariant: pages is the sum of len(layout.pages) over m.
type layoutTable struct {
	m     map[TurnID]*layout
	order []TurnID // by coming
	pages int
}

// maxLayoutPages bounds the table: about 8 MiB, a gigabyte of turns.
const maxLayoutPages = 1 << 18

func (t *layoutTable) add(l *layout) {
	t.m[l.id] = l
	t.order = append(t.order, l.id)
	t.pages += len(l.pages)
	for t.pages > maxLayoutPages && len(t.order) > 1 {
		t.pages -= len(t.m[t.order[0]].pages)
		delete(t.m, t.order[0])
		t.order = t.order[1:]
	}
}

// layoutOf returns a turn's layout. At the first touch the turn is read for it,
// and returned as well. REQUIRES: faults.
func (w *Window) layoutOf(id TurnID) (*layout, *Turn, error) {
	w.mu.Lock()
	l := w.layouts.m[id]
	w.mu.Unlock()
	if l != nil {
		return l, nil, nil
	}
	t, err := w.db.Get(id)
	if err != nil {
		return nil, nil, err
	}
	l = w.newLayout(&t)
	w.mu.Lock()
	w.layouts.add(l)
	w.mu.Unlock()
	return l, &t, nil
}

// page reads the bytes of a page. The memory is the caller's.
func (v *view) page(id uint64, p *pagePlace) ([]byte, error) {
	if l := v.loggedOf(id); l != nil {
		if c := l.content(); int(p.end) <= len(c) {
			return append([]byte{}, c[p.start:p.end]...), nil
		}
		return nil, format.Corruptf("logged turn", l.at, "turn %d became shorter", id)
	}
	s := v.segmentOf(id)
	if s == nil || id >= v.nextID {
		return nil, v.absent(id)
	}
	var b []byte
	for part := p.part; part < p.upto; part++ {
		var err error
		if b, err = s.AppendPart(b, id, int(part)); err != nil {
			return nil, err
		}
	}
	from, to := int(p.start-p.partStart), int(p.end-p.partStart)
	if to > len(b) {
		return nil, format.Corruptf("content block", s.Entry().Offset, "part %d of turn %d has %d bytes, %d were expected", p.part, id, len(b), to)
	}
	return append([]byte{}, b[from:to]...), nil
}
