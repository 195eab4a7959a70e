package demo

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// page is a text that is written at once.
type page struct{ bytes.Buffer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// row is a label and right-aligned columns.
func (p *page) row(label string, columns ...string) {
	fmt.Fprintf(p, "  %-28s", label)
	for _, c := range columns {
		fmt.Fprintf(p, "%14s", c)
	}
	p.WriteByte('\n')
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	var p page
	p.line("A coding session of %d turns, %s tokens, in one ctxdb file; a window of %s tokens.",
		r.Session.Turns, count(r.Session.Tokens), count(r.BudgetTokens))
	p.line("%s references: a working set of 5 turns that drifts, and 10 %% anywhere (seed %d).", count(r.References), r.Seed)
	p.line("Each content that came back was compared with what was appended, byte by byte.\n")
	r.writeTable(&p)
	r.writeTimes(&p)
	r.writeFile(&p)
	r.writeNext(&p)
	_, err := w.Write(p.Bytes())
	return err
}

func (r *Report) writeTable(p *page) {
	pub, all := r.Published, r.KeepAll
	p.row("keep everything", "published", "here")
	p.row("tokens kept", count(pub.Tokens), count(all.PeakTokens))
	p.row("times the window", times(pub.Tokens, pub.BudgetTokens), times(all.PeakTokens, r.BudgetTokens))
	p.row("turns lost", count(pub.Lost), count(all.TurnsLost))
	p.line("")
	r.writePolicies(p)
}

// writePolicies has a row for what was published, for each policy, and for what could be
// reached by who knows the references in advance.
func (r *Report) writePolicies(p *page) {
	line := func(name, peak, faults, rate, lost string, m *Mean) {
		mean, spread := "", ""
		if m != nil {
			mean, spread = fmt.Sprintf("%.1f", m.Faults), fmt.Sprintf("%.0f to %.0f", m.Min, m.Max)
		}
		p.line("%s", strings.TrimRight(fmt.Sprintf("  %-16s%12s%10s%12s%12s%10s%14s", name, peak, faults, rate, lost, mean, spread), " "))
	}
	pub := r.Published
	p.line("  %-16s%12s%10s%12s%12s%10s%14s", "page on demand", "peak tokens", "faults", "fault rate", "turns lost", "mean", "of "+count(r.seeds())+" seeds")
	line("published, lru", count(pub.PeakTokens), count(pub.Faults), percent(pub.Faults, pub.References), count(pub.Lost), nil)
	for _, run := range r.Paged {
		line(string(run.Policy), count(run.PeakTokens), count(run.Faults), percent(run.Faults, run.References), count(run.TurnsLost), run.Mean)
	}
	for _, o := range r.Offline {
		line(o.Name, "", fmt.Sprintf("%.6g", o.Faults), fmt.Sprintf("%.1f %%", 100*o.Faults/float64(max(1, r.References))), "", o.Mean)
	}
	p.line("  Belady-size knows the references in advance; the lower bound is one that nothing goes below.")
	chosen := ""
	if r.Seed == DefaultSeed {
		chosen = ", chosen for its number of faults by lru"
	}
	p.line("  Faults are those of one seed%s;", chosen)
	p.line("  their mean is over the sessions and references of %s seeds, of which %s turns were lost.\n", count(r.seeds()), count(r.lostByMeans()))
}

// seeds is how many the means are over.
func (r *Report) seeds() int {
	if len(r.Paged) == 0 || r.Paged[0].Mean == nil {
		return 0
	}
	return r.Paged[0].Mean.Seeds
}

func (r *Report) lostByMeans() (n int) {
	for _, run := range r.Paged {
		if run.Mean != nil {
			n += run.Mean.TurnsLost
		}
	}
	return n
}

func (r *Report) writeTimes(p *page) {
	p.row("times on this machine", "p50", "p99", "samples")
	for _, t := range []struct {
		label string
		Timing
	}{
		{"fault, content only", r.Latency.Content},
		{"fault, whole turn", r.Latency.Turn},
		{"hit in the window", r.Latency.Hit},
		{"append, durable", r.Latency.Append},
	} {
		if t.coarse() {
			p.row(t.label, "mean "+short(t.Mean), "-", count(t.Samples))
			continue
		}
		p.row(t.label, short(t.P50), short(t.P99), count(t.Samples))
	}
	p.line("  Faults are reads of turns that are in no window, from a file that the operating system has in")
	p.line("  memory; a sample of a hit is the mean of %s. Where a mean stands, the clock is too coarse.\n", count(hitsPerBatch))
}

func (r *Report) writeFile(p *page) {
	p.row("size", "bytes", "of JSONL")
	p.row("the turns as JSONL", count(int(r.Session.JSONLBytes)), "1.00")
	p.row("the ctxdb file, closed", count(int(r.File.Bytes)), fmt.Sprintf("%.2f", r.File.OfJSONL))
	p.row("without its free space", count(int(r.File.Bytes-r.File.FreeBytes)), fmt.Sprintf("%.2f", r.File.UsedOfJSONL))
	if r.File.FreeBytes > 0 {
		p.line("  Free space is what the log left inside the file; later appends use it again.")
	}
	if len(r.File.Findings) == 0 && r.File.TurnsLost == 0 {
		p.line("  Read again in full at the end: every turn as appended, nothing damaged.\n")
		return
	}
	p.line("  Read again in full at the end: %d turns are not as appended, %d damaged places:", r.File.TurnsLost, len(r.File.Findings))
	for _, f := range r.File.Findings {
		p.line("    %s", f)
	}
	p.line("")
}

func (r *Report) writeNext(p *page) {
	path := r.File.Kept
	p.line("Try next:")
	if path == "" {
		path = "demo.ctxdb"
		p.line("  ctxdb demo --keep %s", path)
	} else if strings.ContainsAny(path, " '\"$&()") {
		path = strconv.Quote(path)
	}
	p.line("  ctxdb ls %s", path)
	p.line("  ctxdb get %s 42", path)
	p.line("  ctxdb inspect %s", path)
	p.line("  ctxdb import my.ctxdb session.jsonl")
}

// count writes a number with commas between thousands.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func times(a, b int) string { return fmt.Sprintf("%.1f", float64(a)/float64(max(1, b))) }

func percent(a, b int) string { return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(max(1, b))) }

// short writes a time with three digits at most before its unit.
func short(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f us", float64(d)/1e3)
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}
