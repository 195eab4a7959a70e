package wal

import (
	"fmt"
	"io"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// Grown reports whether a Scan from p with PromisedOnly would find frames that
// the one which ended at p did not. It reads the headers behind p, and no
// payload: a few small reads, where Scan reads whole extents.
//
// Like Scan it fails with a format.CorruptError when the extent was put to
// another use meanwhile or the log has it no longer. Unlike Scan it looks for nothing
// behind a place without a valid header.
func (p Position) Grown(r io.ReaderAt, uuid format.UUID, log []format.LogExtent) (bool, error) {
	for len(log) > 0 && log[0].Cycle != p.Cycle {
		log = log[1:]
	}
	if len(log) == 0 {
		return false, format.Corruptf("log extent", p.At, "cycle %d is not in the log", p.Cycle)
	}
	s, err := newScan(uuid, log, ScanOptions{From: &p})
	if err != nil {
		return false, err
	}
	for i := range s.spans {
		grown, err := s.spans[i].promises(r, uuid, p.LSN)
		if grown || err != nil {
			return grown && err == nil, err
		}
	}
	return false, s.checkEdges(r)
}

// promises walks over the headers at the beginning of the span until one
// promises an LSN from next on.
func (p *span) promises(r io.ReaderAt, uuid format.UUID, next format.LSN) (bool, error) {
	var head [format.FrameHeaderSize]byte
	trailer := edgeAt(p.x, true)
	for at := p.base; trailer-at >= format.FrameHeaderSize; {
		if err := disk.ReadFull(r, head[:], at); err != nil {
			return false, fmt.Errorf("read log: %w", err)
		}
		f, ok := decodeFrame(head[:], uuid, p.x.Salt, at, trailer-at)
		if !ok {
			return false, nil
		}
		if f.Promised >= next {
			return true, nil
		}
		at += format.FrameSize(int(f.Length))
	}
	return false, nil
}
