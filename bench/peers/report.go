package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"ctxdb/bench/internal/workload"
)

// report is what was measured, and where.
type report struct {
	Machine  string            `json:"machine"`
	Load     string            `json:"load"` // of the machine, when the run ended
	Versions map[string]string `json:"versions"`
	Workload string            `json:"workload"`
	Turns    int               `json:"turns"`
	Rounds   int               `json:"rounds"`
	Peers    []row             `json:"peers"`
}

type row struct {
	Name    string  `json:"name"`
	Note    string  `json:"note"`
	Figures figures `json:"figures"` // medians over the rounds
}

func newReport(s settings, set *workload.Set, all []peer, rounds map[string][]figures) *report {
	r := &report{Machine: machine(), Load: load(), Versions: versions(), Workload: set.String(), Turns: s.turns, Rounds: s.rounds}
	for _, p := range append(append([]peer{}, importFloors...), all...) {
		if f := medians(rounds[p.name]); len(f) > 0 {
			r.Peers = append(r.Peers, row{p.name, p.note, f})
		}
	}
	return r
}

func machine() string {
	model := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				model = strings.Trim(name, " \t:\n")
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

func versions() map[string]string {
	all := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return all
	}
	for _, d := range info.Deps {
		for _, name := range []string{"bbolt", "mattn/go-sqlite3", "modernc.org/sqlite", "pebble/v2", "badger/v4", "klauspost/compress"} {
			if strings.HasSuffix(d.Path, name) {
				all[d.Path] = d.Version
			}
		}
	}
	return all
}

// column is a figure as it is printed. lower says that less is better.
type column struct {
	head, figure string
	scale        float64
	format       string
}

// table is a view of some figures.
type table struct {
	title   string
	ratio   string // the figure whose ratio to ctxdb's stands last; "": none
	columns []column
}

var tables = []table{
	{"Durable append, one writer; floor: the same bytes, pwrite and fdatasync into zero-filled space, alternately", "append_p50_us", []column{
		{"p50 us", "append_p50_us", 1, "%.0f"}, {"p99 us", "append_p99_us", 1, "%.0f"}, {"floor p50", "floor_p50_us", 1, "%.0f"},
		{"x floor", "append_ratio", 1, "%.2f"}, {"allocs", "append_allocs", 1, "%.0f"}, {"KB alloc'd", "append_alloc_bytes", 1e-3, "%.1f"}}},
	{"Durable appends per second by number of writers", "writers64_per_s", []column{
		{"1", "writers1_per_s", 1, "%.0f"}, {"8", "writers8_per_s", 1, "%.0f"}, {"64", "writers64_per_s", 1, "%.0f"}, {"64 over 1", "writers_gain", 1, "%.1f"}}},
	{"Bulk import, a sync every 1,000 turns, close included", "import_s", []column{
		{"s", "import_s", 1, "%.2f"}, {"of it close", "import_close_s", 1, "%.2f"}, {"CPU s", "import_cpu_s", 1, "%.2f"}, {"MB/s", "import_mb_per_s", 1, "%.1f"},
		{"file MB", "file_bytes", 1e-6, "%.1f"}, {"of content", "file_ratio", 1, "%.3f"}, {"peak MiB", "import_peak_mib", 1, "%.0f"},
		{"allocs/turn", "import_allocs", 1, "%.0f"}, {"KB/turn", "import_alloc_bytes", 1e-3, "%.1f"}}},
	{"What ctxdb's file is made of, MB", "", []column{
		{"blocks", "part_blocks_bytes", 1e-6, "%.2f"}, {"their pages", "part_content_pages_bytes", 1e-6, "%.2f"}, {"dictionaries", "part_dictionary_bytes", 1e-6, "%.2f"},
		{"keys", "part_keys_bytes", 1e-6, "%.2f"}, {"hot", "part_hot_bytes", 1e-6, "%.2f"}, {"terms", "part_terms_bytes", 1e-6, "%.2f"},
		{"around", "part_around_bytes", 1e-6, "%.2f"}, {"free", "part_free_bytes", 1e-6, "%.2f"}}},
	{"Open", "open_us", []column{
		{"ms", "open_us", 1e-3, "%.2f"}, {"and a first turn", "open_first_us", 1e-3, "%.2f"}, {"peak MiB", "open_peak_mib", 1, "%.0f"}, {"allocs", "open_allocs", 1, "%.0f"}}},
	{"Warm fault: the content of a turn, any of all or a recent one, into the caller's buffer", "any_fault_p50_us", []column{
		{"any p50 us", "any_fault_p50_us", 1, "%.1f"}, {"p99 us", "any_fault_p99_us", 1, "%.1f"}, {"allocs", "any_fault_allocs", 1, "%.2f"},
		{"recent p50 us", "recent_fault_p50_us", 1, "%.1f"}, {"p99 us", "recent_fault_p99_us", 1, "%.1f"}, {"allocs", "recent_fault_allocs", 1, "%.2f"}}},
	{"The same, turns of one block each, alternately with decoding those blocks and with reading them", "", []column{
		{"p50 us", "block_fault_p50_us", 1, "%.1f"}, {"p99 us", "block_fault_p99_us", 1, "%.1f"}, {"decode p50", "decode_p50_us", 1, "%.1f"}, {"decode p99", "decode_p99_us", 1, "%.1f"},
		{"x decode", "fault_ratio", 1, "%.2f"}, {"pread p50", "pread_p50_us", 1, "%.1f"}}},
	{"Look-up of a key at random", "lookup_p50_us", []column{
		{"p50 us", "lookup_p50_us", 1, "%.1f"}, {"p99 us", "lookup_p99_us", 1, "%.1f"}, {"allocs", "lookup_allocs", 1, "%.2f"}}},
	{"Scan of everything", "scan_mb_per_s", []column{{"MB/s", "scan_mb_per_s", 1, "%.0f"}}},
	{"Cold fault, page cache dropped; floor: one aligned 4 KiB read", "cold_p50_us", []column{
		{"p50 us", "cold_p50_us", 1, "%.0f"}, {"p99 us", "cold_p99_us", 1, "%.0f"}, {"KiB read", "cold_kib", 1, "%.1f"}, {"major faults", "cold_major_faults", 1, "%.2f"},
		{"cold share", "cold_share", 1, "%.2f"}, {"floor p50", "cold_pread_p50_us", 1, "%.0f"}}},
}

func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s; load %s\n%s; %d turns, %d rounds, medians\n", r.Machine, r.Load, r.Workload, r.Turns, r.Rounds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, view := range tables {
		view.print(t, r)
	}
	return t.Flush()
}

func (v table) print(w io.Writer, r *report) {
	var own float64
	rows := 0
	for _, p := range r.Peers {
		if p.Name == ctxdbPeer.name {
			own = p.Figures[v.ratio]
		}
		if _, ok := p.Figures[v.columns[0].figure]; ok {
			rows++
		}
	}
	if rows == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\t", v.title)
	for _, c := range v.columns {
		fmt.Fprintf(w, "%s\t", c.head)
	}
	if v.ratio != "" && own > 0 {
		fmt.Fprint(w, "x ctxdb\t")
	}
	fmt.Fprintln(w)
	for _, p := range r.Peers {
		if _, ok := p.Figures[v.columns[0].figure]; !ok {
			continue
		}
		fmt.Fprintf(w, "%s\t", p.Name)
		for _, c := range v.columns {
			if value, ok := p.Figures[c.figure]; ok {
				fmt.Fprintf(w, c.format+"\t", value*c.scale)
			} else {
				fmt.Fprint(w, "-\t")
			}
		}
		if v.ratio != "" && own > 0 {
			fmt.Fprintf(w, "%.2f\t", p.Figures[v.ratio]/own)
		}
		fmt.Fprintln(w)
	}
}
