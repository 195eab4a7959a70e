package engine

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"ctxdb/format"
	"ctxdb/wal"
)

// tail is where a reader goes on in the log.
type tail struct {
	from wal.Position
}

// loadLog reads the log that the superblock names.
func (db *DB) loadLog(st *loaded, promisedOnly bool) error {
	s := &st.view.super
	res, err := wal.Scan(db.file, s.UUID, s.Log, wal.ScanOptions{FirstLSN: s.NextLSN, NextID: s.NextID, PromisedOnly: promisedOnly})
	if err != nil {
		return cutShort(err)
	}
	st.scan = res
	st.nextLSN = max(res.LastLSN+1, s.NextLSN)
	st.view.nextID = max(res.NextID, s.NextID)
	st.view.logs, st.view.lost = collect(nil, slices.Clone(st.view.lost), s.Log, res)
	return nil
}

// cutShort makes a log that ends early ErrTruncated. A writer that closes cuts
// the log off; a reader that meets this starts over.
func cutShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// collect adds what a scan found to the runs and lost ranges.
func collect(runs []run, lost []format.LostRange, log []format.LogExtent, res *wal.Result) ([]run, []format.LostRange) {
	for _, d := range res.Damages {
		if d.Count > 0 {
			lost = append(lost, keep(d.FirstID, d.Count, d.Offset, d.Length))
		}
	}
	for i := range res.Entries {
		e := &res.Entries[i]
		turns, err := takeApart(e)
		if err != nil { // intact bytes that are no turns: as good as damaged
			lost = append(lost, keep(e.Frame.FirstID, e.Frame.Count, e.At, format.FrameSize(int(e.Frame.Length))))
			continue
		}
		runs = addFrame(runs, extentAt(log, e.At), e, turns)
	}
	slices.SortFunc(lost, func(a, b format.LostRange) int { return int(min(max(int64(a.FirstID)-int64(b.FirstID), -1), 1)) })
	return runs, lost
}

func takeApart(e *wal.Entry) ([]logged, error) {
	turns := make([]logged, 0, min(e.Frame.Count, 1<<16))
	for t, err := range e.Turns() {
		if err != nil {
			return nil, err
		}
		turns = append(turns, logged{record: t.Record, metaLen: len(t.Record) - len(t.Content), source: t.Source, at: e.At})
	}
	return turns, nil
}

// addFrame appends a frame's turns to the last run, or begins one where the
// extent changes or ids are missing. The caller's runs are not changed.
func addFrame(runs []run, x format.LogExtent, e *wal.Entry, turns []logged) []run {
	size := format.FrameSize(int(e.Frame.Length))
	if n := len(runs); n > 0 && runs[n-1].extent == x && runs[n-1].end() == e.Frame.FirstID {
		runs = slices.Clone(runs)
		last := &runs[n-1]
		last.turns = append(last.turns, turns...)
		last.bytes += size
		return runs
	}
	return append(runs[:len(runs):len(runs)], run{extent: x, first: e.Frame.FirstID, turns: turns, bytes: size})
}

func extentAt(log []format.LogExtent, at int64) format.LogExtent {
	for _, x := range log {
		if at >= x.Offset && at < x.Offset+x.Length {
			return x
		}
	}
	return format.LogExtent{}
}

// keep makes a lost range whose bytes are set aside in whole extent units.
func keep(first, count uint64, off, length int64) format.LostRange {
	l := format.LostRange{FirstID: first, Count: count}
	if length > 0 {
		l.Offset = off &^ (format.ExtentAlign - 1)
		l.Length = format.AlignUp(off+length) - l.Offset
	}
	return l
}
