package wal

import (
	"encoding/binary"

	"ctxdb/format"
)

// candidate is a frame whose header is valid at its place. Whether it counts
// depends on those before it.
type candidate struct {
	format.Frame
	in     int // index of the span
	at     int // offset in it
	intact bool
}

func (c *candidate) size() int { return int(format.FrameSize(int(c.Length))) }

// find lists every valid header, and the highest promise in one. Behind a
// header that is not valid it looks at each multiple of 8. A valid header is
// skipped by its length even when its payload is damaged: in a cycle each place is written at
// most once, so no other frame is hidden in there.
func (s *scan) find() {
	for i := range s.spans {
		p := &s.spans[i]
		for at := 0; ; {
			at = p.nextFrame(at)
			room := len(p.b) - at
			if room < format.FrameHeaderSize {
				break
			}
			place := p.base + int64(at)
			f, ok := decodeFrame(p.b[at:], s.uuid, p.x.Salt, place, int64(room))
			if !ok {
				at += format.FrameAlign
				continue
			}
			c := candidate{Frame: f, in: i, at: at, intact: mutateBody || f.BodyIntact(p.b[at:], s.uuid, place)}
			s.found = append(s.found, c)
			s.promised = max(s.promised, f.Promised)
			at += c.size()
		}
	}
	if mutatePromise {
		s.promised = 0
	}
}

// nextFrame returns the first offset from at on that could begin a frame of
// the span's salt, or one without room for a header.
func (p *span) nextFrame(at int) int {
	const salt = 40
	b := p.b
	for ; at+format.FrameHeaderSize <= len(b); at += format.FrameAlign {
		if b[at] != 0 && (mutateSalt || binary.LittleEndian.Uint64(b[at+salt:]) == p.x.Salt) {
			break
		}
	}
	return at
}
