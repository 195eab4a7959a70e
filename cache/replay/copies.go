package replay

import (
	"math"
	"slices"
	"strings"
)

// fileCopy is an item that holds lines of a file: the result of a read, or the
// input of a write.
type fileCopy struct {
	item     Item
	size     int64
	from, to int    // lines, both included; to is MaxInt when it reaches to the end
	body     string // without line numbers
	reread   bool   // superseded by a later read or write
	edited   bool   // superseded by an edit
}

// file is what is known of one path.
type file struct {
	group  uint64
	copies []*fileCopy // oldest first
}

// overlapping returns the newest copy that shares lines with a range, or touches
// it; nil: none does.
func (f *file) overlapping(from, to int) *fileCopy {
	for i := len(f.copies) - 1; i >= 0; i-- {
		if c := f.copies[i]; from <= after(c.to) && c.from <= after(to) {
			return c
		}
	}
	return nil
}

func after(line int) int {
	if line == math.MaxInt {
		return line
	}
	return line + 1
}

// holding returns the newest copy with one of the texts in it; without one the
// newest of all; nil if there is none at all.
func (f *file) holding(olds []string) *fileCopy {
	for _, c := range slices.Backward(f.copies) {
		for _, old := range olds {
			if old != "" && strings.Contains(c.body, old) {
				return c
			}
		}
	}
	if n := len(f.copies); n > 0 {
		return f.copies[n-1]
	}
	return nil
}

// place returns the part of the copy that the texts span, or 0, 0.
func (c *fileCopy) place(olds []string) (first, end int64) {
	lo, hi := len(c.body), 0
	for _, old := range olds {
		if at := strings.Index(c.body, old); old != "" && at >= 0 {
			lo, hi = min(lo, at), max(hi, at+len(old))
		}
	}
	return share(lo, hi, len(c.body), c.size)
}

// part converts a range of lines into a range of the copy's size, assuming lines
// of equal length.
func (c *fileCopy) part(from, to int) (first, end int64) {
	n := strings.Count(c.body, "\n") + 1
	lo, hi := max(0, from-c.from), n
	if to < c.from+n {
		hi = to - c.from + 1
	}
	return share(lo, hi, n, c.size)
}

// share converts lo <= x < hi out of n into the same part of size; at least 1.
func share(lo, hi, n int, size int64) (first, end int64) {
	if n <= 0 || lo >= n || hi <= lo {
		return 0, 0
	}
	hi = min(hi, n)
	first = min(int64(float64(lo)/float64(n)*float64(size)), size-1)
	end = int64(math.Ceil(float64(hi) / float64(n) * float64(size)))
	return first, min(max(end, first+1), size)
}

// unnumbered takes the line numbers away that a tool put before the lines, and
// returns the first of them; 0 if there were none.
func unnumbered(text string) (body string, first int) {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.SplitAfterSeq(text, "\n") {
		number, skip := lineNumber(line)
		if first == 0 {
			first = number
		}
		b.WriteString(line[skip:])
	}
	return b.String(), first
}
