package replay

// newPacking turns a trace into intervals and rooms. Instants are numbered as
// they come: one for the tail of each step, and one for each part referenced or
// made. Instants that no interval covers are left in; they cost nothing.
//
// That the rooms hold for what Simulate runs: at the end of a step's tail all of
// the tail is resident and guarded, or nothing else is, because the guarded leave
// only when nothing else can; so beside the tail there is the budget less the
// tail, or nothing. When a page has just been loaded it is resident itself.
func newPacking(t *Trace, o Options) *packing {
	b := &packer{o: o, paging: paging{o.PageSize}, last: make(map[page]stay), packing: &packing{}}
	for refs := range t.steps {
		b.step(refs)
	}
	p := b.packing
	p.prices = make([]float64, len(p.room))
	p.sums = make([]float64, len(p.room)+1)
	p.load = make([]float64, len(p.room)+1)
	return p
}

type packer struct {
	*packing
	o      Options
	paging paging
	last   map[page]stay
}

// stay is a page that may be resident since an instant.
type stay struct {
	since int32 // the first instant that has to be covered
	size  int64 // the smallest it may have
}

func (b *packer) step(refs []Ref) {
	if b.o.Recent > 0 {
		b.tail(refs)
	}
	for i := range refs {
		if r := &refs[i]; r.Kind.IsRecall() {
			b.recall(r)
		}
	}
	for i := range refs {
		r := &refs[i]
		if r.Kind != New {
			continue
		}
		for part := range b.paging.parts(r.Size) {
			b.touch(page{r.Item, part}, b.paging.cost(r.Size, part))
		}
	}
}

// tail adds one instant at which all of the recent tail is resident.
func (b *packer) tail(refs []Ref) {
	var size int64
	at := int32(len(b.room) + 1)
	seen := false
	for i := range refs {
		r := &refs[i]
		if r.Kind != Tail {
			continue
		}
		seen = true
		for part := range b.paging.parts(r.Size) {
			if cost := b.paging.cost(r.Size, part); cost <= b.o.Budget {
				size += cost
				b.last[page{r.Item, part}] = stay{at, cost} // it is brought back uncounted
			}
		}
	}
	if seen {
		b.room = append(b.room, float64(max(0, b.o.Budget-size)))
	}
}

// recall ends the intervals of what is needed.
func (b *packer) recall(r *Ref) {
	b.recalls++
	first, end := b.paging.needed(r)
	for part := first; part < end; part++ {
		p := page{r.Item, part}
		cost := b.paging.cost(r.Size, part)
		b.recallSize += cost
		share := 1 / float64(end-first)
		was, known := b.last[p]
		now := int32(len(b.room))
		switch {
		case !known || cost > b.o.Budget:
			b.certain += share
			b.certainSize += float64(cost)
		case was.since < now:
			b.intervals = append(b.intervals, interval{was.since, now, was.size, share})
		}
		b.touch(p, cost)
	}
}

// touch notes that a page is resident at a new instant.
func (b *packer) touch(p page, cost int64) {
	if cost > b.o.Budget {
		return
	}
	if was, ok := b.last[p]; ok {
		cost = min(cost, was.size)
	}
	b.room = append(b.room, float64(b.o.Budget-cost))
	b.last[p] = stay{int32(len(b.room)), cost}
}
