package main

import (
	"bytes"
	"context"
	"io"
)

// lineIndex tells at which line an offset of its source lies. It remembers the line
// breaks between what was asked for last and what was read last.
type lineIndex struct {
	src    io.Reader
	read   int64   // bytes
	before int     // line breaks in front of breaks[0]
	breaks []int64 // offsets
}

func (x *lineIndex) Read(b []byte) (int, error) {
	n, err := x.src.Read(b)
	for p := 0; ; p++ {
		i := bytes.IndexByte(b[p:n], '\n')
		if i < 0 {
			break
		}
		p += i
		x.breaks = append(x.breaks, x.read+int64(p))
	}
	x.read += int64(n)
	return n, err
}

// at returns the line of the byte before an offset, from 1.
//
// REQUIRES: offsets never go back.
func (x *lineIndex) at(offset int64) int {
	n := 0
	for n < len(x.breaks) && x.breaks[n] < offset-1 {
		n++
	}
	x.breaks = x.breaks[n:]
	x.before += n
	return x.before + 1
}

// patientReader waits for a source that may have nothing to say, no longer than its
// context: a pipe can't be interrupted in the middle of a read.
type patientReader struct {
	ctx    context.Context
	ask    chan struct{}
	answer chan chunk
	rest   []byte
	err    error
}

type chunk struct {
	data []byte
	err  error
}

func newPatientReader(ctx context.Context, src io.Reader) *patientReader {
	r := &patientReader{ctx: ctx, ask: make(chan struct{}, 1), answer: make(chan chunk, 1)}
	go func() { // ends with ctx, but for one last read that nobody waits for
		buf := make([]byte, 256<<10)
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.ask:
			}
			n, err := src.Read(buf)
			r.answer <- chunk{buf[:n], err}
		}
	}()
	return r
}

func (r *patientReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.ask <- struct{}{}
		select {
		case <-r.ctx.Done():
			r.err = context.Cause(r.ctx)
			return 0, r.err
		case c := <-r.answer:
			r.rest, r.err = c.data, c.err
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
