package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"ctxdb/bench/internal/workload"
)

// scaleRow is one size of the growing file.
type scaleRow struct {
	Turns   int     `json:"turns"`
	Figures figures `json:"figures"`
}

var scaleColumns = []column{
	{"import turns/s", "import_turns_per_s", 1, "%.0f"}, {"import peak MiB", "import_peak_mib", 1, "%.0f"}, {"file MB", "file_bytes", 1e-6, "%.1f"}, {"of content", "file_share", 1, "%.3f"},
	{"open ms", "open_us", 1e-3, "%.2f"}, {"fault p50 us", "block_fault_p50_us", 1, "%.1f"}, {"p99", "block_fault_p99_us", 1, "%.1f"}, {"x decode", "fault_ratio", 1, "%.2f"},
	{"any turn p50 us", "any_fault_p50_us", 1, "%.1f"}, {"p99", "any_fault_p99_us", 1, "%.1f"}, {"recent turn p50 us", "recent_fault_p50_us", 1, "%.1f"}, {"p99", "recent_fault_p99_us", 1, "%.1f"},
	{"look-up p50 us", "lookup_p50_us", 1, "%.1f"}, {"scan MB/s", "scan_mb_per_s", 1, "%.0f"}, {"append p50 us", "append_p50_us", 1, "%.0f"}, {"x floor", "append_ratio", 1, "%.2f"},
	{"search p50 ms", "search_p50_us", 1e-3, "%.2f"}, {"p99", "search_p99_us", 1e-3, "%.2f"}, {"search peak MiB", "search_peak_mib", 1, "%.0f"}, {"resident", "search_rss_mib", 1, "%.0f"},
}

// scale grows one ctxdb file by powers of ten and measures it at each. Turns are
// made as they are appended; nothing grows but the file.
func scale(s settings) error {
	base, err := os.MkdirTemp(s.dir, "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	set, err := s.set()
	if err != nil {
		return err
	}
	work, dir := filepath.Join(base, "workload"), filepath.Join(base, "ctxdb")
	if err := saveSet(work, set); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	t := task{Peer: ctxdbPeer.name, Dir: dir, Work: work}
	var rows []scaleRow
	var content float64
	for have, size := 0, min(1000, s.scale); ; size = min(size*10, s.scale) {
		row := scaleRow{size, figures{}}
		for _, phase := range []string{"import", "open", "read", "append", "search"} {
			fmt.Fprintf(os.Stderr, "%d turns: %s\n", size, phase)
			f, err := t.step(s, phase, have, size)
			if err != nil {
				return err
			}
			for name, v := range f {
				row.Figures[name] = v
			}
		}
		content += row.Figures["content_bytes"]
		row.Figures["file_share"] = row.Figures["file_bytes"] / content
		rows = append(rows, row)
		if have = size; size == s.scale {
			break
		}
	}
	if s.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	return printScale(set, rows)
}

// step runs one phase at a size. Single appends go to a copy, so that the file
// keeps the turns of its size.
func (t task) step(s settings, phase string, have, size int) (figures, error) {
	t.Phase, t.From, t.Turns = phase, 0, size
	if s.profile != "" {
		t.Profile = fmt.Sprintf("%s-%s-%d.prof", s.profile, phase, size)
	}
	switch phase {
	case "import":
		t.From, t.Turns = have, size-have
	case "read":
		t.Ops = 20000
	case "search":
		t.Ops = 200
	case "append":
		t.From, t.Ops = size, 500
		copied := filepath.Join(filepath.Dir(t.Dir), "copy")
		if err := os.CopyFS(copied, os.DirFS(t.Dir)); err != nil {
			return nil, err
		}
		defer os.RemoveAll(copied)
		t.Dir = copied
	}
	return t.run()
}

func printScale(set *workload.Set, rows []scaleRow) error {
	fmt.Printf("%s; load %s\n%s\n\n", machine(), load(), set)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "turns\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t", r.Turns)
	}
	fmt.Fprintln(w)
	for _, c := range scaleColumns {
		fmt.Fprintf(w, "%s\t", c.head)
		for _, r := range rows {
			fmt.Fprintf(w, c.format+"\t", r.Figures[c.figure]*c.scale)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
