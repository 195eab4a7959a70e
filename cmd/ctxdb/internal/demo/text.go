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
	r.writeMeans(&p)
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
	head, peak, refs, faults := []string{"published"}, []string{count(pub.PeakTokens)}, []string{count(pub.References)}, []string{count(pub.Faults)}
	window, rate, lost := []string{count(pub.BudgetTokens)}, []string{percent(pub.Faults, pub.References)}, []string{count(pub.Lost)}
	for _, run := range r.Paged {
		head = append(head, "here, "+string(run.Policy))
		window = append(window, count(r.BudgetTokens))
		peak = append(peak, count(run.PeakTokens))
		refs = append(refs, count(run.References))
		faults = append(faults, count(run.Faults))
		rate = append(rate, percent(run.Faults, run.References))
		lost = append(lost, count(run.TurnsLost))
	}
	p.row("page on demand", head...)
	p.row("window, tokens", window...)
	p.row("peak tokens", peak...)
	p.row("references", refs...)
	p.row("faults", faults...)
	p.row("fault rate", rate...)
	p.row("turns lost", lost...)
	p.line("")
}

func (r *Report) writeMeans(p *page) {
	chosen := ""
	if r.Seed == DefaultSeed {
		chosen = ", chosen for its number of faults by lru"
	}
	p.line("That is one seed%s. The same session with the references of %d seeds:", chosen, MeanSeeds)
	for _, run := range r.Paged {
		m := run.Mean
		if m == nil {
			continue
		}
		p.line("  %-6s %.1f faults on average (%.1f %%), from %d to %d, %d turns lost",
			run.Policy, m.Faults, 100*m.Faults/float64(max(1, run.References)), m.Min, m.Max, m.TurnsLost)
	}
	p.line("")
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
