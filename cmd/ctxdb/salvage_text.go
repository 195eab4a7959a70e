package main

import (
	"fmt"
	"io"
	"strings"

	"ctxdb/engine"
)

const listShown = 20 // entries of a list, unless all are asked for

// list prints indented lines, and counts those that are too many.
func (r *salvageReport) list(w io.Writer, lines []string) {
	for i, line := range lines {
		if i == listShown && !r.everything {
			fmt.Fprintf(w, "  ... and %s more; --verbose names them\n", count(len(lines)-i))
			return
		}
		fmt.Fprintln(w, " ", line)
	}
}

// ranges is a number of turns and which they are, on one line.
func (r *salvageReport) ranges(all []engine.IDRange) string {
	turns, more := uint64(0), ""
	for _, x := range all {
		turns += x.Count
	}
	shown := all
	if len(all) > listShown && !r.everything {
		shown = all[:listShown]
		more = fmt.Sprintf(" ... and %s ranges more; --verbose names them", count(len(all)-listShown))
	}
	names := make([]string, len(shown))
	for i, x := range shown {
		names[i] = rangeName(x)
	}
	return fmt.Sprintf("%s: %s%s", many(turns, "turn"), strings.Join(names, " "), more)
}

// rangeName is #7, or #7-#9.
func rangeName(x engine.IDRange) string {
	if x.Count == 1 {
		return fmt.Sprintf("#%d", x.First)
	}
	return fmt.Sprintf("#%d-#%d", x.First, uint64(x.First)+x.Count-1)
}

func turnsIn(all []engine.LostTurns) (n uint64) {
	for _, x := range all {
		n += x.Count
	}
	return n
}

// lostLines are ranges and reasons in two columns.
func lostLines(all []engine.LostTurns) []string {
	lines := make([]string, len(all))
	width := 0
	for _, x := range all {
		width = max(width, len(rangeName(x.IDRange)))
	}
	for i, x := range all {
		at := ""
		if x.Offset > 0 {
			at = fmt.Sprintf(" (offset %s)", count(x.Offset))
		}
		lines[i] = fmt.Sprintf("%-*s  %s%s", width, rangeName(x.IDRange), escape(x.Reason), at)
	}
	return lines
}

func conflictLines(all []engine.Conflict) []string {
	lines := make([]string, len(all))
	for i, c := range all {
		lines[i] = fmt.Sprintf("#%d  kept: %s; other: %s", c.ID, escape(c.Kept), escape(c.Other))
	}
	return lines
}
