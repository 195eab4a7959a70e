package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on stderr, where that is a terminal and the length is known.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress begins a bar. inBytes: what is counted are bytes, else things.
func newProgress(w io.Writer, what string, total int64, inBytes bool) *progress {
	f, ok := w.(*os.File)
	if !ok || total <= 0 || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(inBytes),
		progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())}
}

func (p *progress) reader(src io.Reader) io.Reader {
	if p.bar == nil {
		return src
	}
	return &countedReader{src, p.bar}
}

// countedReader moves a bar on. That a bar can't be drawn is no reason to fail.
type countedReader struct {
	src io.Reader
	bar *progressbar.ProgressBar
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.src.Read(b)
	_ = r.bar.Add(n)
	return n, err
}

func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n)
	}
}

// done clears the bar.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}

// stages are bars that follow each other.
type stages struct {
	w     io.Writer
	stage string
	bar   *progress
}

// move is called with how far the stage of a name has come. A scan counts bytes.
func (s *stages) move(stage string, done, total int64) {
	if s.bar == nil || s.stage != stage {
		s.done()
		s.stage, s.bar = stage, newProgress(s.w, stage, total, stage == "scan")
	}
	if s.bar.bar != nil {
		_ = s.bar.bar.Set64(done)
	}
}

func (s *stages) done() {
	if s.bar != nil {
		s.bar.done()
	}
}
