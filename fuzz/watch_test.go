package fuzz

import (
	"bytes"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// watcher tells syncs apart by what was written since the last one.
type watcher struct {
	last  string
	super *format.Superblock // the last one that was written
	slots [2][]byte
}

// see returns the name of a sync, or of a write that fills with zeros, and ""
// for anything else.
func (w *watcher) see(op disk.Op) string {
	switch {
	case op.Kind == disk.OpSyncDir:
		return "directory"
	case op.Kind == disk.OpSync && op.Name != path:
		return "temporary"
	case op.Kind == disk.OpSync:
		last := w.last
		w.last = ""
		return last
	case op.Kind == disk.OpWrite && op.Name == path:
		return w.write(op)
	}
	return ""
}

func (w *watcher) write(op disk.Op) string {
	switch magic := string(op.Data[:min(8, len(op.Data))]); {
	case op.Off == format.SlotA || op.Off == format.SlotB:
		w.last = w.superblock(op)
	case op.Off == format.HolderOffset:
	case magic == "ctxlogh\n" || magic == "ctxlogt\n":
		w.last = "prepare"
	case magic == "ctxleaf\n":
		w.last = "leaf"
	case magic == "ctxroot\n":
		w.last = "root"
	case len(bytes.Trim(op.Data, "\x00")) == 0:
		if op.Len == format.LogEdge {
			return "wipe" // of a log extent that nobody names any more
		}
		w.last = "prepare"
		return "zeros"
	case w.logged(op.Off):
		w.last = "commit"
	default:
		w.last = "segment"
	}
	return ""
}

// superblock: the first publication of a state, the second, or the repetition
// of what Open found.
func (w *watcher) superblock(op disk.Op) string {
	s, err := format.DecodeSuperblock(op.Data, op.Off)
	if err != nil {
		return ""
	}
	old, slot := w.super, op.Off/format.SlotB
	same := bytes.Equal(w.slots[slot], op.Data)
	w.super, w.slots[slot] = &s, bytes.Clone(op.Data)
	switch {
	case s.Epoch <= 2:
		return "claim" // of a file of no bytes
	case same:
		return "confirm"
	case old != nil && sameSlots(old, &s):
		return "second publication"
	}
	return "first publication"
}

func (w *watcher) logged(off int64) bool {
	if w.super == nil {
		return false
	}
	for _, x := range w.super.Log {
		if off >= x.Offset && off < x.Offset+x.Length {
			return true
		}
	}
	return false
}

// lying makes a player skip the operations of these names.
func (p *player) lying(names ...string) {
	w := &watcher{}
	p.lie = func(op disk.Op) bool {
		name := w.see(op)
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
}
