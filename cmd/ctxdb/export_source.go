package main

import (
	"io"
	"slices"

	"ctxdb/cmd/ctxdb/internal/transcript"
	"ctxdb/engine"
)

// sourceWriter writes the sources of turns. Turns of one stream that follow each other are
// joined as they came; where another stream begins, so does a line.
type sourceWriter struct {
	out    *lastByte
	joiner *transcript.Joiner // nil before the first turn
	stream string
}

func (s *sourceWriter) turn(t engine.Turn, source []byte) error {
	stream, tags := transcript.StreamOf(t.Key), t.Tags
	if source == nil && t.Role == engine.RoleMeta && slices.Contains(tags, transcript.TagTail) {
		source = []byte{} // files from before empty tails had a source
	}
	if source == nil {
		line, err := marshal(t, nil)
		if err != nil {
			return err
		}
		source, tags, stream = line, nil, ""
	}
	if s.joiner == nil || stream != s.stream {
		if err := s.next(stream); err != nil {
			return err
		}
	}
	return s.joiner.Add(source, tags)
}

func (s *sourceWriter) next(stream string) error {
	if err := s.close(); err != nil {
		return err
	}
	if s.joiner != nil && s.out.last != '\n' {
		if _, err := s.out.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	s.joiner, s.stream = transcript.NewJoiner(s.out), stream
	return nil
}

func (s *sourceWriter) close() error {
	if s.joiner == nil {
		return nil
	}
	return s.joiner.Close()
}

// lastByte remembers what was written last.
type lastByte struct {
	w    io.Writer
	last byte
}

func (l *lastByte) Write(b []byte) (int, error) {
	if len(b) > 0 {
		l.last = b[len(b)-1]
	}
	return l.w.Write(b)
}
