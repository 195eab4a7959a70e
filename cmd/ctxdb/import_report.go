package main

import (
	"fmt"
	"io"
)

// importReport says what an import did.
type importReport struct {
	File        string             `json:"file"`
	Imported    int                `json:"imported"`      // turns
	Present     int                `json:"already_there"` // turns
	LeftOut     int                `json:"left_out"`      // parts of transcripts
	Failed      int                `json:"failed"`        // transcripts
	Transcripts []transcriptReport `json:"transcripts"`
}

type transcriptReport struct {
	Name     string    `json:"name"`
	Format   string    `json:"format,omitempty"`
	Bytes    int64     `json:"bytes"` // that were read
	Imported int       `json:"imported"`
	Present  int       `json:"already_there"`
	Failed   string    `json:"failed,omitempty"` // why it was not read to its end
	LeftOut  []leftOut `json:"left_out"`
}

// leftOut is a part of a transcript that is no turn, or not the turn that it says.
type leftOut struct {
	Line   int    `json:"line"`
	Offset int64  `json:"offset,omitempty"` // of the first byte, for what can't be read
	Bytes  int64  `json:"bytes"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`
	Kept   bool   `json:"kept"` // its bytes are in the file nevertheless
}

func (r *importReport) add(t transcriptReport) {
	r.Transcripts = append(r.Transcripts, t)
	r.Imported += t.Imported
	r.Present += t.Present
	r.LeftOut += len(t.LeftOut)
	if t.Failed != "" {
		r.Failed++
	}
}

// troubles lists everything that makes the exit code 1.
func (r *importReport) troubles() (all []string) {
	for _, t := range r.Transcripts {
		for _, l := range t.LeftOut {
			kept := ""
			if l.Kept && l.Key == "" {
				kept = "; kept as it is"
			}
			all = append(all, fmt.Sprintf("%s:%d: %s%s", displayName(t.Name), l.Line, l.Reason, kept))
		}
		if t.Failed != "" {
			all = append(all, t.Failed)
		}
	}
	return all
}

const complaintsShown = 20

// complain names what was left out, and no more than a screen of it unless asked.
func (r *importReport) complain(w io.Writer, everything bool) {
	all := r.troubles()
	for i, line := range all {
		if i == complaintsShown && !everything {
			fmt.Fprintf(w, "... and %s more; --verbose names them\n", count(len(all)-i))
			return
		}
		fmt.Fprintln(w, escape(line))
	}
}

func (r *importReport) text(w io.Writer) {
	for _, t := range r.Transcripts {
		format := ""
		if t.Format != "" {
			format = " (" + t.Format + ")"
		}
		fmt.Fprintf(w, "%s%s: imported %s (%s already there), left out %s\n", escape(displayName(t.Name)), format,
			many(t.Imported, "turn"), count(t.Present), leftOutText(t.LeftOut))
	}
	if len(r.Transcripts) > 1 {
		var all []leftOut
		for _, t := range r.Transcripts {
			all = append(all, t.LeftOut...)
		}
		fmt.Fprintf(w, "%s: imported %s (%s already there), left out %s\n", many(len(r.Transcripts), "transcript"),
			many(r.Imported, "turn"), count(r.Present), leftOutText(all))
	}
}

// leftOutText counts, and tells what is lost from what is only not understood.
func leftOutText(all []leftOut) string {
	kept := 0
	for _, l := range all {
		if l.Kept {
			kept++
		}
	}
	if kept == 0 {
		return count(len(all))
	}
	return fmt.Sprintf("%s (%s of them kept as they are)", count(len(all)), count(kept))
}

func displayName(transcript string) string {
	if transcript == "-" {
		return "stdin"
	}
	return transcript
}
