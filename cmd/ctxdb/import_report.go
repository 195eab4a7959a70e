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
	Kept        int                `json:"kept_as_is"`    // parts of transcripts that are no turns, and are in the file
	LeftOut     int                `json:"left_out"`      // parts that are not
	Failed      int                `json:"failed"`        // transcripts
	Transcripts []transcriptReport `json:"transcripts"`
}

type transcriptReport struct {
	Name     string   `json:"name"`
	Format   string   `json:"format,omitempty"`
	Bytes    int64    `json:"bytes"` // that were read
	Imported int      `json:"imported"`
	Present  int      `json:"already_there"`
	Failed   string   `json:"failed,omitempty"` // why it was not read to its end
	Kept     []oddity `json:"kept_as_is"`
	LeftOut  []oddity `json:"left_out"`

	all []oddity // in the order in which they were met
}

// oddity is a part of a transcript that is no turn, or not the turn that it says.
type oddity struct {
	Line   int    `json:"line"`
	Offset int64  `json:"offset,omitempty"` // of the first byte, for what can't be read
	Bytes  int64  `json:"bytes"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`

	kept bool // nothing of it is lost: export gives its bytes back
}

func newTranscriptReport(name string) transcriptReport {
	return transcriptReport{Name: name, Kept: []oddity{}, LeftOut: []oddity{}}
}

func (t *transcriptReport) note(o oddity) {
	t.all = append(t.all, o)
	if o.kept {
		t.Kept = append(t.Kept, o)
	} else {
		t.LeftOut = append(t.LeftOut, o)
	}
}

func (r *importReport) add(t transcriptReport) {
	r.Transcripts = append(r.Transcripts, t)
	r.Imported += t.Imported
	r.Present += t.Present
	r.Kept += len(t.Kept)
	r.LeftOut += len(t.LeftOut)
	if t.Failed != "" {
		r.Failed++
	}
}

// isIncomplete reports whether something of the transcripts is not in the file.
func (r *importReport) isIncomplete() bool { return r.LeftOut > 0 || r.Failed > 0 }

// remarks lists what was not understood, and everything that makes the exit code 1.
func (r *importReport) remarks() (all []string) {
	for _, t := range r.Transcripts {
		for _, o := range t.all {
			kept := ""
			if o.kept {
				kept = "; kept as it is"
			}
			all = append(all, fmt.Sprintf("%s:%d: %s%s", displayName(t.Name), o.Line, o.Reason, kept))
		}
		if t.Failed != "" {
			all = append(all, t.Failed)
		}
	}
	return all
}

const complaintsShown = 20

// complain prints remarks, and no more than a screen of them unless asked.
func (r *importReport) complain(w io.Writer, everything bool) {
	all := r.remarks()
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
		fmt.Fprintf(w, "%s%s: %s\n", escape(displayName(t.Name)), format, summary(t.Imported, t.Present, len(t.Kept), len(t.LeftOut)))
	}
	if len(r.Transcripts) > 1 {
		fmt.Fprintf(w, "%s: %s\n", many(len(r.Transcripts), "transcript"), summary(r.Imported, r.Present, r.Kept, r.LeftOut))
	}
}

func summary(imported, present, kept, leftOut int) string {
	keptText := ""
	switch {
	case kept == 1:
		keptText = ", kept 1 record that is not understood"
	case kept > 1:
		keptText = fmt.Sprintf(", kept %s records that are not understood", count(kept))
	}
	return fmt.Sprintf("imported %s (%s already there)%s, left out %s", many(imported, "turn"), count(present), keptText, count(leftOut))
}

func displayName(transcript string) string {
	if transcript == "-" {
		return "stdin"
	}
	return transcript
}
