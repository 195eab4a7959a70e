package engine

import (
	"encoding/binary"
	"math"

	"ctxdb/cache"
	"ctxdb/format"
)

// windowState is what the file remembers of a window: who is resident, who is
// pinned, and all that decides who leaves next. Contents are not part of it.
type windowState struct {
	name       string
	stamp      uint64 // grows with each opening of any window
	pageTokens int    // -1: whole turns
	steps      uint64
	seen       TurnID
	cache      cache.Snapshot[pageKey] // Pins of its items are not stored: they follow from the others
	pins       []TurnID
	holds      []hold
	gone       []goneState
	origins    []originState
	recent     []TurnID
}

type goneState struct {
	key pageKey
	departure
}

type originState struct {
	origin uint64
	newest TurnID
}

const stateVersion = 1

// encode appends the state as it lies in the aside, in uvarints but for hashes
// and floats, which take eight bytes: version, name, stamp, policy, page tokens
// plus 1, references, next TurnID to look at; the cache's clock, admissions,
// references, hand plus 1, floor; then lists, each behind its length: items,
// ghosts, pins, fault pins, departures, origins, recent turns. A page is its
// TurnID and its part.
func (s *windowState) encode(b []byte) []byte {
	u := func(vs ...uint64) {
		for _, v := range vs {
			b = binary.AppendUvarint(b, v)
		}
	}
	page := func(k pageKey) { u(uint64(k.id()), uint64(k.part())) }
	fixed := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	c := &s.cache
	u(stateVersion)
	b = appendAsideString(b, s.name)
	u(s.stamp)
	b = appendAsideString(b, string(c.Policy))
	u(uint64(s.pageTokens+1), s.steps, uint64(s.seen), c.Clock, c.Seq, c.Refs, uint64(c.Hand+1))
	fixed(math.Float64bits(c.Floor))
	u(uint64(len(c.Items)))
	for _, it := range c.Items {
		page(it.Key)
		u(uint64(it.Cost.Tokens), uint64(it.Cost.Bytes), it.Seq, it.Last, uint64(it.Class), uint64(it.Queue), uint64(it.Freq), it.Stamp)
		fixed(math.Float64bits(it.Priority))
	}
	u(uint64(len(c.Ghosts)))
	for _, g := range c.Ghosts {
		page(g.Key)
		u(uint64(g.Size))
	}
	u(uint64(len(s.pins)))
	for _, id := range s.pins {
		u(uint64(id))
	}
	u(uint64(len(s.holds)))
	for _, h := range s.holds {
		page(h.key)
		u(uint64(h.cost.Tokens), uint64(h.cost.Bytes), h.until)
	}
	u(uint64(len(s.gone)))
	for _, g := range s.gone {
		page(g.key)
		u(uint64(g.cost.Tokens), uint64(g.cost.Bytes), g.step, uint64(g.held))
	}
	u(uint64(len(s.origins)))
	for _, o := range s.origins {
		fixed(o.origin)
		u(uint64(o.newest))
	}
	u(uint64(len(s.recent)))
	for _, id := range s.recent {
		u(uint64(id))
	}
	return b
}

// stateDecoder reads the parts of a windowState.
type stateDecoder struct{ asideDecoder }

func (d *stateDecoder) id() TurnID { return TurnID(d.within(1, format.MaxTurns)) }

func (d *stateDecoder) page() pageKey {
	id := d.id()
	return makePageKey(id, int(d.within(0, 1<<partBits-1)))
}

func (d *stateDecoder) cost() (c cache.Cost) {
	c.Tokens = int64(d.within(0, format.MaxTokens))
	c.Bytes = int64(d.within(0, format.MaxContent))
	return c
}

func (d *stateDecoder) number() uint64 { return d.within(0, 1<<62) }

func (d *stateDecoder) ids() (list []TurnID) {
	for n := d.count(1); n > 0 && d.err == nil; n-- {
		list = append(list, d.id())
	}
	return list
}

func decodeState(b []byte) (s windowState, err error) {
	d := stateDecoder{asideDecoder{b: b}}
	d.within(stateVersion, stateVersion)
	s.name = d.string(maxWindowName)
	s.stamp = d.number()
	s.cache.Policy = cache.Policy(d.string(maxWindowName))
	s.pageTokens = int(d.within(0, math.MaxInt32)) - 1
	s.steps, s.seen = d.number(), TurnID(d.within(0, format.MaxTurns+1))
	s.cache.Clock, s.cache.Seq, s.cache.Refs = d.number(), d.number(), d.number()
	s.cache.Hand = int(d.within(0, math.MaxInt32)) - 1
	s.cache.Floor = math.Float64frombits(d.uint64())
	for n := d.count(18); n > 0 && d.err == nil; n-- {
		s.cache.Items = append(s.cache.Items, d.item())
	}
	for n := d.count(3); n > 0 && d.err == nil; n-- {
		s.cache.Ghosts = append(s.cache.Ghosts, cache.GhostState[pageKey]{Key: d.page(), Size: int64(d.number())})
	}
	s.pins = d.ids()
	for n := d.count(5); n > 0 && d.err == nil; n-- {
		s.holds = append(s.holds, hold{key: d.page(), cost: d.cost(), until: d.number()})
	}
	for n := d.count(6); n > 0 && d.err == nil; n-- {
		g := goneState{key: d.page()}
		g.departure = departure{cost: d.cost(), step: d.number(), held: uint32(d.within(0, firstHold))}
		s.gone = append(s.gone, g)
	}
	for n := d.count(9); n > 0 && d.err == nil; n-- {
		o := originState{origin: d.uint64()}
		o.newest = d.id()
		s.origins = append(s.origins, o)
	}
	s.recent = d.ids()
	return s, d.end()
}

func (d *stateDecoder) item() (it cache.ItemState[pageKey]) {
	it.Key = d.page()
	it.Cost = d.cost()
	it.Seq, it.Last = d.number(), d.number()
	it.Class = cache.Class(d.within(0, uint64(cache.Guarded)))
	it.Queue = uint8(d.within(0, math.MaxUint8))
	it.Freq = uint32(d.within(0, math.MaxUint32))
	it.Stamp = d.number()
	it.Priority = math.Float64frombits(d.uint64())
	return it
}
