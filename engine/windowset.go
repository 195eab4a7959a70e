package engine

import (
	"slices"
	"strings"

	"ctxdb/cache"
	"ctxdb/format"
)

// Bounds of what a window knows about the file.
const (
	lookBack   = 512  // so many turns that came since it looked last are looked at
	maxRecent  = 1024 // WindowOptions.KeepRecent
	maxOrigins = 4096
	maxGone    = 8192
)

// Tools whose results are copies of a file as it is, by the names that are in
// use for them. A result of either supersedes older copies of the file: it was
// read again, or overwritten. Edits do not: what was read before is still
// looked for (measured).
var fileTools = map[string]bool{
	"read": true, "read_file": true, "readfile": true, "view": true, "view_file": true, "cat": true, "open_file": true,
	"notebookread": true, "get_file_contents": true,
	"write": true, "write_file": true, "writefile": true, "create_file": true, "save_file": true,
}

const toolTag = "tool:"

// facts is what the working set needs to know about a turn.
type facts struct {
	reply  TurnID  // the call that a tool result answers; 0: none
	call   pageKey // first page of the call that a tool result answers; 0: none, or it may be apart
	origin uint64  // hash of the file that a result is a copy of; 0: it is none
}

func factsOf(id TurnID, role string, replyTo TurnID, tags, entities []string, o *WindowOptions) (f facts) {
	if role != "tool_result" {
		return f
	}
	if replyTo != 0 && replyTo < id {
		f.reply = replyTo
		if !o.CallsApart {
			f.call = makePageKey(replyTo, 0)
		}
	}
	if len(entities) == 0 || entities[0] == "" || o.KeepSuperseded {
		return f
	}
	for _, tag := range tags {
		if tool, ok := strings.CutPrefix(tag, toolTag); ok && fileTools[strings.ToLower(tool)] {
			f.origin = max(format.Hash([]byte(entities[0])), 1)
		}
	}
	return f
}

// knowledge is what a window knows about the turns of the file beside those
// that are resident.
//
// invariant: recent is sorted and has at most keep ids, none of a meta turn.
// invariant: order lists the keys of newest by when they were first seen.
type knowledge struct {
	seen   TurnID // turns from this id on were not looked at yet
	keep   int
	recent []TurnID
	newest map[uint64]TurnID // of each origin
	order  []uint64
}

func newKnowledge(keep int) knowledge { return knowledge{keep: keep, newest: map[uint64]TurnID{}} }

// superseded reports whether a newer copy of the same file is known.
func (k *knowledge) superseded(l *layout) bool {
	return l.origin != 0 && k.newest[l.origin] > l.id
}

func (k *knowledge) isRecent(id TurnID) bool {
	_, found := slices.BinarySearch(k.recent, id)
	return found
}

// learnOrigin notes a copy of a file and reports whether it is the newest.
func (k *knowledge) learnOrigin(origin uint64, id TurnID) bool {
	old, known := k.newest[origin]
	if known && old >= id {
		return false
	}
	if !known {
		if k.order = append(k.order, origin); len(k.order) > maxOrigins {
			delete(k.newest, k.order[0])
			k.order = k.order[1:]
		}
	}
	k.newest[origin] = id
	return true
}

// learnRecent notes the newest turn, and returns the one that is recent no
// more, or 0.
func (k *knowledge) learnRecent(id TurnID) (old TurnID) {
	if k.keep == 0 {
		return 0
	}
	if k.recent = append(k.recent, id); len(k.recent) > k.keep {
		old = k.recent[0]
		k.recent = slices.Delete(k.recent, 0, 1)
	}
	return old
}

// learn looks at the turns that came since the last time, and puts what is
// resident into the classes that follow from them. REQUIRES: faults.
func (w *Window) learn() {
	end := TurnID(w.db.view.Load().nextID)
	from := max(w.known.seen, 1)
	if end > from+lookBack {
		from = end - lookBack
	}
	for id := from; id < end; id++ {
		var rec format.Record
		if w.db.do(func(v *view) (err error) { rec, err = v.record(uint64(id)); return err }) != nil {
			continue // who asks for it will hear of it
		}
		if rec.Role != RoleMeta {
			if old := w.known.learnRecent(id); old != 0 {
				w.reclassify(old)
			}
			w.reclassify(id)
		}
		f := factsOf(id, rec.Role, TurnID(rec.ReplyTo), rec.Tags, rec.Entities, &w.opts)
		if f.origin != 0 && w.known.learnOrigin(f.origin, id) {
			w.doom(f.origin, id)
		}
	}
	w.known.seen = max(w.known.seen, end)
}

// doom classes the resident copies that a newer one supersedes.
func (w *Window) doom(origin uint64, newer TurnID) {
	w.mu.Lock()
	var older []TurnID
	for id, r := range w.turns {
		if r.lay.origin == origin && id < newer {
			older = append(older, id)
		}
	}
	w.mu.Unlock()
	for _, id := range older {
		w.reclassify(id)
	}
}

// reclassify puts the pages of a turn that is resident, and the call that it
// answers, into the classes where they belong. REQUIRES: faults.
func (w *Window) reclassify(id TurnID) {
	w.mu.Lock()
	r := w.turns[id]
	w.mu.Unlock()
	if r == nil {
		return
	}
	for i := range r.lay.pages {
		w.classify(makePageKey(id, i))
	}
	if r.lay.call != 0 {
		w.classify(r.lay.call)
	}
}

// classify puts a page into its class, if it is resident. REQUIRES: faults.
func (w *Window) classify(key pageKey) {
	w.mu.Lock()
	class := w.classOf(key)
	w.mu.Unlock()
	w.cache.SetClass(key, class)
}

// classOf says who leaves before whom: newest turns last, and calls with their
// results. REQUIRES: mu.
func (w *Window) classOf(key pageKey) cache.Class {
	r := w.turns[key.id()]
	if r == nil {
		return cache.Normal
	}
	if w.known.isRecent(key.id()) {
		return cache.Guarded
	}
	if key.part() == 0 {
		for _, id := range w.results[key] {
			if w.known.isRecent(id) || w.pins[id] {
				return cache.Guarded
			}
		}
	}
	if w.known.superseded(r.lay) {
		return cache.Doomed
	}
	return cache.Normal
}
