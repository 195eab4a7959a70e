package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// settings are the flags.
type settings struct {
	quick   bool
	json    bool
	chat    bool
	plot    string
	only    string
	phases  string
	rounds  int
	turns   int
	scale   int
	dir     string
	profile string
	from    string
}

func main() {
	var s settings
	var spec string
	flag.BoolVar(&s.quick, "quick", false, "a tenth of the work in one round: for a first look")
	flag.BoolVar(&s.json, "json", false, "the report as JSON")
	flag.BoolVar(&s.chat, "chat", false, "turns of chats in the place of coding sessions")
	flag.StringVar(&s.plot, "plot", "", "draw the figures into this `file`, .svg or .png")
	flag.StringVar(&s.only, "only", "", "these `peers` only, with commas: "+strings.Join(peerNames(), ","))
	flag.StringVar(&s.phases, "phases", strings.Join(allPhases, ","), "these `phases` only; import makes what open, read and cold read")
	flag.IntVar(&s.rounds, "rounds", 0, "`rounds` of A B C; 0: 3, or 1 with -quick")
	flag.IntVar(&s.turns, "turns", 0, "`turns` to import; 0: 100,000, or 10,000 with -quick")
	flag.IntVar(&s.scale, "scale", 0, "instead: grow one ctxdb file from 1,000 `turns` to so many by powers of ten, measuring at each")
	flag.StringVar(&s.dir, "dir", "", "the `folder` to work in; it must lie on the disk that is to be measured. \"\": the system's for temporary files")
	flag.StringVar(&s.profile, "profile", "", "write CPU profiles of ctxdb's phases to `PREFIX`-phase.prof")
	flag.StringVar(&s.from, "from", "", "measure nothing: print, and draw, the report that -json made, from this `file`")
	flag.StringVar(&spec, "task", "", "for the processes that this command starts")
	flag.Parse()
	if err := start(s, spec); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func start(s settings, spec string) error {
	if spec != "" {
		return perform(spec)
	}
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected %q", flag.Arg(0))
	}
	if mattnAbsent != "" {
		fmt.Fprintln(os.Stderr, mattnAbsent)
	}
	s.rounds = orElse(s.rounds, 3, 1, s.quick)
	s.turns = orElse(s.turns, 100_000, 10_000, s.quick)
	if s.scale > 0 {
		return scale(s)
	}
	all, err := chosen(s.only)
	if err != nil {
		return err
	}
	for phase := range strings.SplitSeq(s.phases, ",") {
		if !slices.Contains(allPhases, phase) {
			return fmt.Errorf("no phase %q: there are %s", phase, strings.Join(allPhases, ", "))
		}
	}
	r, err := s.report(all)
	if err != nil {
		return err
	}
	if s.plot != "" {
		if err := draw(s.plot, r); err != nil {
			return err
		}
	}
	if s.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.print(os.Stdout)
}

// report measures, or reads what was measured.
func (s settings) report(all []peer) (*report, error) {
	if s.from == "" {
		return compare(s, all)
	}
	data, err := os.ReadFile(s.from)
	if err != nil {
		return nil, err
	}
	r := &report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", s.from, err)
	}
	return r, nil
}

func orElse(v, full, quick int, isQuick bool) int {
	switch {
	case v > 0:
		return v
	case isQuick:
		return quick
	}
	return full
}
