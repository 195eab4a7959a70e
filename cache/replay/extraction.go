package replay

import "strings"

// extraction is an Extract under way.
type extraction struct {
	trace *Trace
	step  Step
	made  []Ref // the New reference of each item
	files map[string]*file
	held  map[uint64]holder // by the hash of a string
	wrote map[uint64]Step   // the last step at which the model wrote it
	tail  []Item            // items of the last steps, oldest first
	refs  []Ref             // recalls of the step at hand
	dead  []Ref             // marks of the step at hand
}

// holder is the newest item that held a string, and how many did.
type holder struct {
	items    int
	item     Item
	from, to int64
}

// one takes in a step: what is in view, what it came back to, what that
// supersedes, what it made.
func (x *extraction) one(turns []placed) {
	x.step = turns[0].step
	x.view()
	x.refs, x.dead = x.refs[:0], x.dead[:0]
	for i := range turns {
		x.access(&turns[i])
	}
	x.quotes(turns)
	x.trace.Refs = append(append(x.trace.Refs, x.refs...), x.dead...)
	for i := range turns {
		x.take(&turns[i])
	}
}

// view lists the recent tail. Steps without a turn have none.
func (x *extraction) view() {
	for len(x.tail) > 0 && x.made[x.tail[0]].Step < x.step-DefaultRecent {
		x.tail = x.tail[1:]
	}
	for _, it := range x.tail {
		x.trace.Refs = append(x.trace.Refs, x.ref(it, Tail, 0, 0))
	}
}

func (x *extraction) inView(it Item) bool { return x.made[it].Step >= x.step-DefaultRecent }

func (x *extraction) ref(it Item, kind Kind, from, to int64) Ref {
	r := x.made[it]
	r.Step, r.Kind, r.From, r.To = x.step, kind, from, to
	return r
}

// recall notes a recall, once a step for each item; the first kind stays, and a
// second place widens what is needed.
func (x *extraction) recall(it Item, kind Kind, from, to int64) (added bool) {
	for i := range x.refs {
		if r := &x.refs[i]; r.Item == it {
			if r.To == 0 || to == 0 {
				r.From, r.To = 0, 0
			} else {
				r.From, r.To = min(r.From, from), max(r.To, to)
			}
			return false
		}
	}
	x.refs = append(x.refs, x.ref(it, kind, from, to))
	return true
}

func (x *extraction) file(path string) *file {
	f := x.files[path]
	if f == nil {
		f = &file{group: uint64(len(x.files) + 1)}
		x.files[path] = f
	}
	return f
}

// access notes rereads and edits, and what they supersede.
func (x *extraction) access(p *placed) {
	if p.Role == Result {
		if a, ok := p.access(); ok {
			x.reread(p, a)
		}
		return
	}
	for _, a := range p.Files {
		switch a.Kind {
		case EditFile:
			x.edit(a)
		case WriteFile:
			x.supersede(x.file(a.Path), a, p.isItem())
		}
	}
}

func (x *extraction) reread(p *placed, a Access) {
	f := x.file(a.Path)
	from, to := a.lines()
	if c := f.overlapping(from, to); c != nil && !x.inView(c.item) {
		first, end := c.part(from, to)
		x.recall(c.item, Reread, first, end)
	}
	x.supersede(f, a, p.isItem())
}

// supersede marks the copies of which a new one shows everything. What is too
// small to be an item supersedes nothing: it would leave no copy behind.
func (x *extraction) supersede(f *file, a Access, isItem bool) {
	if !isItem {
		return
	}
	from, to := a.lines()
	for _, c := range f.copies {
		if !c.reread && from <= c.from && c.to <= to {
			c.reread = true
			x.dead = append(x.dead, x.ref(c.item, DeadReread, 0, 0))
		}
	}
}

// edit recalls the newest copy that holds anything of what is replaced.
func (x *extraction) edit(a Access) {
	f := x.file(a.Path)
	if c := f.holding(a.Old); c != nil && !x.inView(c.item) {
		first, end := c.place(a.Old)
		x.recall(c.item, Edit, first, end)
	}
	for _, c := range f.copies {
		if !c.edited {
			c.edited = true
			x.dead = append(x.dead, x.ref(c.item, DeadEdit, 0, 0))
		}
	}
}

// quotes notes which items the model's own words of this step came from.
func (x *extraction) quotes(turns []placed) {
	quoted := 0
	for i := range turns {
		p := &turns[i]
		if p.Role != Assistant && p.Role != Call {
			continue
		}
		marks(p.Text, func(m mark) {
			h, ok := x.held[m.hash]
			if !ok || h.items > maxHolders || x.inView(h.item) {
				return
			}
			if last, ok := x.wrote[m.hash]; ok && last >= x.step-DefaultRecent {
				return
			}
			known := false
			for _, r := range x.refs {
				known = known || r.Item == h.item
			}
			if !known && quoted < maxQuotes {
				quoted++
				x.recall(h.item, Quote, h.from, h.to)
			}
		})
	}
}

// take makes an item of a turn, if it is large enough, and remembers its strings.
func (x *extraction) take(p *placed) {
	if p.Role == Assistant || p.Role == Call {
		marks(p.Text, func(m mark) { x.wrote[m.hash] = x.step })
	}
	if !p.isItem() {
		return
	}
	it := Item(len(x.made))
	r := Ref{Step: x.step, Item: it, Size: p.size, Kind: New, ItemKind: p.itemKind(), Parent: it}
	if a, ok := p.access(); ok {
		f := x.file(a.Path)
		r.Group = f.group
		if a.Kind != EditFile {
			f.copies = append(f.copies, newCopy(it, p, a))
		}
	}
	x.made = append(x.made, r)
	x.trace.Refs = append(x.trace.Refs, r)
	x.tail = append(x.tail, it)
	marks(p.Text, func(m mark) {
		h := x.held[m.hash]
		if h.items == 0 || h.item != it {
			h.items++
			h.item = it
			h.from, h.to = share(m.from, m.to, len(p.Text), p.size)
			x.held[m.hash] = h
		}
	})
}

func newCopy(it Item, p *placed, a Access) *fileCopy {
	from, to := a.lines()
	body, first := unnumbered(p.Text)
	if p.Role == Call { // the path stands before what is written
		body = strings.TrimPrefix(p.Text, a.Path+"\n")
	} else if first > 0 {
		from = first
	}
	return &fileCopy{item: it, size: p.size, from: from, to: to, body: body}
}
