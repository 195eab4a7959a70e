package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// rowsShown is how many segments or threads are listed unless --full asks for all.
const rowsShown = 20

// head reads what only the leading blocks say: the format's version, whether a slot is
// damaged, and who holds the lock.
func (r *fileReport) head(path string) (damagedSlot bool, err error) {
	f, err := disk.OS.Open(path, false)
	if err != nil {
		return false, err
	}
	defer f.Close()
	b := make([]byte, format.FirstExtent)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return false, err
	}
	var epoch uint64
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		s, err := format.DecodeSuperblock(b[slot:slot+format.SuperblockSize], slot)
		if err != nil {
			damagedSlot = true
			continue
		}
		if s.Epoch >= epoch {
			epoch, r.Format, r.Unknown = s.Epoch, fmt.Sprintf("%d.%d", s.Major, s.Minor), ""
			if s.WriteFeatures != 0 {
				r.Unknown = fmt.Sprintf("%#x", s.WriteFeatures)
			}
		}
	}
	held, err := f.LockedByOther()
	if err != nil || !held {
		return damagedSlot, err
	}
	r.Holder = &holder{}
	if h, ok := format.DecodeHolder(b[format.HolderOffset:]); ok {
		*r.Holder = holder{PID: h.PID, Host: h.Host, Since: h.Since.UTC().Format(time.RFC3339)}
	}
	return damagedSlot, nil
}

// health is one line: that all is well, or what to do.
func (r *fileReport) health(damagedSlot bool, unreadable int) string {
	var all []string
	if r.Lost > 0 || unreadable > 0 {
		all = append(all, fmt.Sprintf("%s damaged; `ctxdb verify` says where", many(max(r.Lost, uint64(unreadable)), "turn")))
	}
	if r.Unknown != "" {
		all = append(all, fmt.Sprintf("this program can read the file but not write it: it has features %s that this program does not know; get a newer ctxdb", r.Unknown))
	}
	if damagedSlot {
		all = append(all, "one of two superblocks is damaged; the next append writes it anew")
	}
	if r.State == "open" && r.Holder == nil {
		text := fmt.Sprintf("it was not closed; the next open for writing puts %s away", many(r.Recovery.Turns, "turn"))
		if r.Recovery.TornBytes > 0 {
			text += fmt.Sprintf(" and drops %s of an unfinished append", many(r.Recovery.TornBytes, "byte"))
		}
		all = append(all, text+", by itself")
	}
	if len(all) == 0 {
		return "healthy"
	}
	return strings.Join(all, "; ")
}

func tallies(counts map[string]int) []tally {
	all := make([]tally, 0, len(counts))
	for name, n := range counts {
		all = append(all, tally{name, n})
	}
	slices.SortFunc(all, func(a, b tally) int { return cmp.Or(b.Turns-a.Turns, cmp.Compare(a.Name, b.Name)) })
	return all
}

func (r *fileReport) textTurns(w io.Writer) {
	lost := ""
	if r.Lost > 0 {
		lost = fmt.Sprintf(", %s of them damaged", count(r.Lost))
	}
	row(w, "turns", "%s, %s tokens%s", count(r.Turns), count(r.Tokens), lost)
	if !r.Counted {
		row(w, "roles", "not counted; --full reads all turns and counts roles and threads")
		return
	}
	var roles []string
	for _, t := range r.Roles {
		roles = append(roles, quoteName(t.Name)+" "+count(t.Turns))
	}
	if len(roles) > 0 {
		row(w, "roles", "%s", strings.Join(roles, ", "))
	}
	for i, t := range r.Threads {
		if i == rowsShown && !r.full {
			row(w, "", "... and %s more; --full lists them", count(len(r.Threads)-i))
			return
		}
		name := ""
		if i == 0 {
			name = "threads"
		}
		row(w, name, "%s %s", quoteName(t.Name), count(t.Turns))
	}
}

func (r *fileReport) textBytes(w io.Writer) {
	row(w, "content", "%s", many(r.Content, "byte"))
	row(w, "sources", "%s", many(r.Source, "byte"))
	var shares []string
	if r.Source > 0 {
		shares = append(shares, fmt.Sprintf("%.2f of the sources", float64(r.Bytes)/float64(r.Source)))
	}
	if r.Content > 0 {
		shares = append(shares, fmt.Sprintf("%.2f of content and sources", float64(r.Bytes)/float64(r.Content+r.Source)))
	}
	ratio := ""
	if len(shares) > 0 {
		ratio = ": " + strings.Join(shares, ", ")
	}
	row(w, "on disk", "%s%s", many(r.Bytes, "byte"), ratio)
	row(w, "free", "%s inside the file, used by later appends", many(r.Free, "byte"))
}

func (r *fileReport) textExtents(w io.Writer) {
	row(w, "segments", "%s", count(len(r.Segments)))
	for i, s := range r.Segments {
		if i == rowsShown && !r.full {
			row(w, "", "... and %s more; --full lists them", count(len(r.Segments)-i))
			break
		}
		row(w, "", "%d at offset %d: %s, turns #%d to #%d", s.Number, s.Offset, many(s.Bytes, "byte"), s.FirstID, uint64(s.FirstID)+s.Turns-1)
	}
	row(w, "log", "%s", many(len(r.Log), "extent"))
	for _, x := range r.Log {
		held := "empty"
		if x.Turns > 0 {
			held = fmt.Sprintf("%s of frames, turns #%d to #%d", many(x.Frames, "byte"), x.FirstID, uint64(x.FirstID)+x.Turns-1)
		}
		row(w, "", "cycle %d at offset %d: %s, %s", x.Cycle, x.Offset, many(x.Bytes, "byte"), held)
	}
	row(w, "key runs", "%s", count(r.KeyRuns))
	for _, m := range r.Vectors {
		row(w, "vectors", "%s of %s by %s, for %s: %s in %s%s", count(m.Vectors), many(m.Dims, "dimension"), m.name(), many(m.Turns, "turn"), many(m.Bytes, "byte"), many(m.Runs, "run"), m.note())
	}
	if r.Recovery.TornBytes > 0 {
		row(w, "torn", "%s at offset %d, never acknowledged", many(r.Recovery.TornBytes, "byte"), r.Recovery.TornAt)
	}
}

func (m *vectorsRow) name() string {
	switch {
	case m.Model != "":
		return quoteName(m.Model)
	case m.Newer == m.Runs:
		return "a model that this ctxdb can't name"
	}
	return "a model whose name is damaged"
}

// note says of how many runs a search can't use the vectors.
func (m *vectorsRow) note() string {
	if m.Newer == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them by a newer ctxdb, which this one can't search", count(m.Newer))
}
