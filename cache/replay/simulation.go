package replay

import "ctxdb/cache"

// simulation is a run under way.
type simulation struct {
	o      Options
	run    Run
	paging paging
	store  store
	ledger *ledger
	seen   []bool // by item; plain traces
	dead   []bool // by item: superseded
	// guarded holds what is in the recent tail, oldest first.
	guarded []guard
}

type guard struct {
	item  Item
	parts uint32
	last  Step // in view up to and including this step
}

func newSimulation(t *Trace, o Options) (*simulation, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := (paging{o.PageSize}).check(t); err != nil {
		return nil, err
	}
	s := &simulation{
		o: o, run: Run{Trace: t.Name, Options: o}, paging: paging{o.PageSize},
		ledger: newLedger(o.Prices), seen: make([]bool, t.Items), dead: make([]bool, t.Items),
	}
	var err error
	s.store, err = newCacheStore(o, s.ledger.leave)
	return s, err
}

func (s *simulation) step(refs []Ref) error {
	s.store.tick()
	s.unguard(refs[0].Step)
	for _, phase := range phases {
		for i := range refs {
			if r := &refs[i]; phase.has(r.Kind) {
				if err := phase.do(s, r); err != nil {
					return err
				}
			}
		}
	}
	s.ledger.send()
	return nil
}

// phases are what happens in a step, in order.
var phases = []struct {
	has func(Kind) bool
	do  func(*simulation, *Ref) error
}{
	{func(k Kind) bool { return k == Tail }, (*simulation).tail},
	{Kind.IsRecall, (*simulation).recall},
	{func(k Kind) bool { return k == DeadReread || k == DeadEdit }, (*simulation).supersede},
	{func(k Kind) bool { return k == New }, (*simulation).make},
}

// unguard lets go of what the recent tail has lost.
func (s *simulation) unguard(now Step) {
	n := 0
	for ; n < len(s.guarded) && s.guarded[n].last < now; n++ {
		g := s.guarded[n]
		class := cache.Normal
		if s.dead[g.item] {
			class = cache.Doomed
		}
		for part := range g.parts {
			s.store.setClass(page{g.item, part}, class)
		}
	}
	s.guarded = s.guarded[n:]
}

// make takes in a new item.
func (s *simulation) make(r *Ref) error {
	s.run.References++
	s.ledger.made(r.Size)
	n := s.paging.parts(r.Size)
	if s.o.Recent > 0 {
		s.guarded = append(s.guarded, guard{r.Item, n, r.Step + Step(s.o.Recent)})
	}
	for part := range n {
		if _, err := s.load(page{r.Item, part}, r.Size); err != nil {
			return err
		}
		if s.o.Recent > 0 {
			s.store.setClass(page{r.Item, part}, cache.Guarded)
		}
	}
	return nil
}

// tail brings back what the budget has pushed out of the recent tail. It is no
// reference to what is resident: the agent did not ask for it.
func (s *simulation) tail(r *Ref) error {
	s.run.References++
	if s.o.Recent < 0 {
		return nil
	}
	for part := range s.paging.parts(r.Size) {
		p := page{r.Item, part}
		if !s.store.resident(p) && s.paging.cost(r.Size, part) <= s.o.Budget {
			s.run.TailLoads++
			if _, err := s.load(p, r.Size); err != nil {
				return err
			}
		}
		s.store.setClass(p, cache.Guarded)
	}
	return nil
}

// recall references what an agent came back to.
func (s *simulation) recall(r *Ref) error {
	s.run.References++
	s.run.Recalls++
	first, end := s.paging.needed(r)
	missed := false
	for part := first; part < end; part++ {
		cost := s.paging.cost(r.Size, part)
		s.run.RecallSize += cost
		hit, err := s.load(page{r.Item, part}, r.Size)
		if err != nil {
			return err
		}
		if !hit {
			missed = true
			s.run.FaultSize += cost
		}
	}
	if missed {
		s.run.Faults++
		if r.Kind == Plain && !s.seen[r.Item] {
			s.run.Cold++
		}
	}
	if r.Kind == Plain && !s.seen[r.Item] {
		s.ledger.made(r.Size)
	}
	s.seen[r.Item] = true
	return nil
}

// supersede lets an older copy leave before all others.
func (s *simulation) supersede(r *Ref) error {
	if s.o.KeepSuperseded || r.Kind == DeadEdit && !s.o.DoomEdited {
		return nil
	}
	s.dead[r.Item] = true
	for _, g := range s.guarded {
		if g.item == r.Item {
			return nil // unguard sees to it
		}
	}
	for part := range s.paging.parts(r.Size) {
		s.store.setClass(page{r.Item, part}, cache.Doomed)
	}
	return nil
}

// load references one part and reports whether it was resident.
func (s *simulation) load(p page, size int64) (hit bool, err error) {
	cost := s.paging.cost(size, p.part)
	if cost > s.o.Budget {
		s.run.Refused++
		return false, nil
	}
	hit, err = s.store.load(p, cost)
	if err == nil && !hit {
		s.ledger.enter(p, cost)
	}
	return hit, err
}

func (s *simulation) result() Run {
	stats := s.store.stats()
	s.run.Evictions, s.run.Batches = stats.Evictions, stats.Batches
	s.run.EvictedSize, s.run.Peak = stats.Evicted.Tokens, stats.Peak.Tokens
	s.run.Money = s.ledger.bill(s.run.Faults)
	return s.run
}
