package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"ctxdb/format"
)

type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Format   int    `json:"format"` // the file format's major version
	Go       string `json:"go"`
}

func versionVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of program and file format",
		Args:  arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, asJSON, programVersion())
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func programVersion() versionReport {
	r := versionReport{Version: "unknown", Format: format.Major, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	if info.Main.Version != "" {
		r.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			r.Revision = s.Value
		}
	}
	return r
}

func (r versionReport) text(w io.Writer) { fmt.Fprintln(w, r) }

func (r versionReport) String() string {
	revision := ""
	if r.Revision != "" {
		revision = " (revision " + r.Revision + ")"
	}
	return fmt.Sprintf("ctxdb %s%s, file format %d, %s", r.Version, revision, r.Format, r.Go)
}
