package engine

import (
	"cmp"
	"math"
	"slices"

	"ctxdb/cache"
)

// simWindow is a naive window: lists that are searched from end to end, no
// tables, no files. It knows a turn by the layout that the real window gave it.
type simWindow struct {
	opts     WindowOptions
	limit    cache.Cost
	low      cache.Cost
	clock    uint64
	touches  uint64
	admitted uint64
	pages    []*simPage
	pins     []TurnID
	holds    []hold
	goneAt   map[pageKey]uint32 // how long the latest fault pin of an evicted page was
	seen     TurnID
	recent   []TurnID
	copies   map[uint64]TurnID
	layouts  map[TurnID]*layout
	refs     int64
	hits     int64
	evicted  int64
}

type simPage struct {
	key   pageKey
	cost  cache.Cost
	last  uint64 // clock
	touch uint64
	seq   uint64
}

func newSim(o WindowOptions) *simWindow {
	s := &simWindow{opts: o, limit: o.limit(), goneAt: map[pageKey]uint32{}, copies: map[uint64]TurnID{}, layouts: map[TurnID]*layout{}}
	part := func(n int64) int64 {
		if n == math.MaxInt64 || o.LowWatermark == 1 {
			return n
		}
		return int64(math.Floor(float64(n) * o.LowWatermark))
	}
	s.low = cache.Cost{Tokens: part(s.limit.Tokens), Bytes: part(s.limit.Bytes)}
	return s
}

func (s *simWindow) find(key pageKey) *simPage {
	for _, p := range s.pages {
		if p.key == key {
			return p
		}
	}
	return nil
}

func (s *simWindow) charged() (c cache.Cost) {
	for _, p := range s.pages {
		c = plus(c, p.cost)
	}
	return c
}

// held is what pins hold; fault pins on pages other than those that are wanted.
func (s *simWindow) held(faultPins bool, wanted []pageKey) (c cache.Cost) {
	for _, p := range s.pages {
		pinned := slices.Contains(s.pins, p.key.id())
		held := faultPins && s.isHeld(p.key) && !slices.Contains(wanted, p.key)
		if pinned || held {
			c = plus(c, p.cost)
		}
	}
	return c
}

func (s *simWindow) isHeld(key pageKey) bool {
	return slices.ContainsFunc(s.holds, func(h hold) bool { return h.key == key })
}

func (s *simWindow) touch(key pageKey) {
	if p := s.find(key); p != nil {
		s.touches++
		p.touch, p.last = s.touches, s.clock
	}
}

// ref is a reference to a turn or a page, or a pin (which references only what
// is cold).
func (s *simWindow) ref(id TurnID, part int, pin bool) (hit, over bool) {
	l := s.layouts[id]
	var wanted, missing []pageKey
	var want, room cache.Cost
	for i, p := range l.pages {
		key := makePageKey(id, i)
		if part != allParts && part != i {
			continue
		}
		wanted = append(wanted, key)
		want = plus(want, p.cost())
		if s.find(key) == nil {
			missing = append(missing, key)
			room = plus(room, p.cost())
		}
	}
	if len(missing) == 0 {
		if !pin {
			s.clock++
			for _, key := range wanted {
				s.touch(key)
			}
			s.touch(l.call)
			s.refs, s.hits = s.refs+1, s.hits+1
		}
		return true, false
	}
	if !fits(want, s.limit, s.held(false, nil)) {
		return false, true
	}
	s.holds = slices.DeleteFunc(s.holds, func(h hold) bool { return h.until <= s.clock })
	for len(s.holds) > 0 && !fits(want, s.limit, s.held(true, wanted)) {
		s.holds = s.holds[1:]
	}
	steady := slices.Clone(wanted)
	call := l.call
	if call != 0 && !slices.Contains(wanted, call) && !slices.Contains(s.pins, call.id()) && !s.isHeld(call) {
		cost := s.layouts[call.id()].pages[0].cost()
		if fits(plus(want, cost), s.limit, s.held(true, wanted)) {
			steady = append(steady, call)
			if s.find(call) == nil {
				missing = append(missing, call)
				room = plus(room, cost)
			}
		}
	}
	s.clock++
	s.refs++
	for _, key := range steady {
		s.touch(key)
	}
	s.makeRoom(room, steady, id)
	for _, key := range missing {
		s.admitted++
		s.touches++
		cost := s.layouts[key.id()].pages[key.part()].cost()
		s.pages = append(s.pages, &simPage{key: key, cost: cost, last: s.clock, touch: s.touches, seq: s.admitted})
	}
	if s.opts.PinOnFault && !pin {
		s.holdBack(missing, id)
	}
	return false, false
}

func (s *simWindow) holdBack(missing []pageKey, id TurnID) {
	half := cache.Cost{Tokens: s.limit.Tokens / 2, Bytes: s.limit.Bytes / 2}
	for _, key := range missing {
		n, was := s.goneAt[key]
		if !was || key.id() != id {
			continue
		}
		if n == 0 {
			n = 2 * firstHold
		}
		cost := s.find(key).cost
		if n /= 2; n > 0 && fits(cost, half, s.held(true, nil)) {
			s.goneAt[key] = n
			s.holds = append(s.holds, hold{key: key, until: s.clock + uint64(n)})
		}
	}
}

// learn looks at every turn that came.
func (s *simWindow) learn(turns []Turn) {
	for ; int(s.seen) < len(turns); s.seen++ {
		t := &turns[s.seen]
		if t.Role != RoleMeta && s.opts.KeepRecent > 0 {
			s.recent = append(s.recent, t.ID)
			s.recent = s.recent[max(0, len(s.recent)-s.opts.KeepRecent):]
		}
		if f := factsOf(t.ID, t.Role, t.ReplyTo, t.Tags, t.Entities, &s.opts); f.origin != 0 {
			s.copies[f.origin] = t.ID
		}
	}
}

func (s *simWindow) class(p *simPage) cache.Class {
	l := s.layouts[p.key.id()]
	if slices.Contains(s.recent, l.id) {
		return cache.Guarded
	}
	for _, q := range s.pages {
		if id := q.key.id(); s.layouts[id].call == p.key && (slices.Contains(s.recent, id) || slices.Contains(s.pins, id)) {
			return cache.Guarded
		}
	}
	if l.origin != 0 && s.copies[l.origin] > l.id {
		return cache.Doomed
	}
	return cache.Normal
}

func (s *simWindow) makeRoom(room cache.Cost, steady []pageKey, id TurnID) {
	if fits(room, s.limit, s.charged()) {
		return
	}
	var gone []pageKey
	classes := map[pageKey]cache.Class{} // those from before the batch
	for _, p := range s.pages {
		classes[p.key] = s.class(p)
	}
	for _, class := range []cache.Class{cache.Doomed, cache.Normal, cache.Guarded} {
		mark := s.low
		if class == cache.Guarded {
			mark = s.limit
		}
		for !fits(room, mark, s.charged()) {
			var loose []*simPage
			for _, p := range s.pages {
				if classes[p.key] == class && !slices.Contains(s.pins, p.key.id()) && !s.isHeld(p.key) && !slices.Contains(steady, p.key) {
					loose = append(loose, p)
				}
			}
			if len(loose) == 0 {
				break
			}
			victim := slices.MinFunc(loose, s.order)
			s.drop(victim.key, true)
			gone = append(gone, victim.key)
		}
	}
	s.dropOrphans(gone, id, true)
}

// order says who leaves first.
func (s *simWindow) order(a, b *simPage) int {
	if s.opts.Policy == cache.LRU {
		return cmp.Compare(a.touch, b.touch)
	}
	score := func(p *simPage) float64 {
		size := p.cost.Tokens
		if s.opts.BudgetTokens == 0 {
			size = p.cost.Bytes
		}
		root := math.Sqrt(float64(max(size, 1)))
		return float64(float64(s.clock-p.last) * float64(root*math.Sqrt(root)))
	}
	return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.seq, b.seq))
}

func (s *simWindow) drop(key pageKey, evicted bool) {
	s.pages = slices.DeleteFunc(s.pages, func(p *simPage) bool { return p.key == key })
	s.holds = slices.DeleteFunc(s.holds, func(h hold) bool { return h.key == key })
	if evicted {
		s.evicted++
		s.goneAt[key] += 0
	}
}

func (s *simWindow) dropOrphans(gone []pageKey, except TurnID, evicted bool) {
	for len(gone) > 0 {
		key := gone[0]
		gone = gone[1:]
		if key.part() != 0 {
			continue
		}
		for _, p := range slices.Clone(s.pages) {
			id := p.key.id()
			if s.layouts[id].call == key && id != except && !slices.Contains(s.pins, id) {
				s.drop(p.key, evicted)
				gone = append(gone, p.key)
			}
		}
	}
}

func (s *simWindow) release(id TurnID) {
	s.pins = slices.DeleteFunc(s.pins, func(p TurnID) bool { return p == id })
	for i := range s.layouts[id].pages {
		if key := makePageKey(id, i); s.find(key) != nil {
			s.drop(key, false)
			s.dropOrphans([]pageKey{key}, 0, true)
		}
	}
}
