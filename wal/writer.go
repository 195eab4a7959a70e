package wal

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ctxdb/format"
	"ctxdb/format/disk"
)

var (
	// ErrFull: the frame does not fit into what the extent has left. Nothing
	// was staged; rotate.
	ErrFull = errors.New("log extent is full")
	// ErrFailed: a write failed before. Nothing more is written under this salt.
	ErrFailed = errors.New("log writer failed before")
)

// Writer lays frames out in one extent. It is used by one goroutine at a time,
// the leader of a commit, and never syncs.
type Writer struct {
	f    disk.File
	uuid format.UUID
	x    format.LogExtent

	// invariant: framesAt(x) <= at, at+len(group) <= trailer, both multiples of
	// format.FrameAlign.
	at      int64 // absolute offset of the group: everything before it is written
	trailer int64
	group   []byte // staged frames; a new array for each group
	// invariant: next-written frames are staged.
	next    format.LSN
	written format.LSN // LSN of the first frame that is not written
	failed  bool
}

// NewWriter begins at the start of an extent that was prepared, synced, and
// named by both superblocks, and in which no frame was ever written. first is
// the LSN of its first frame.
func NewWriter(f disk.File, uuid format.UUID, x format.LogExtent, first format.LSN) *Writer {
	return &Writer{
		f: f, uuid: uuid, x: x,
		at: framesAt(x), trailer: edgeAt(x, true),
		next: first, written: first,
	}
}

// Extent returns the extent as NewWriter was given it.
func (w *Writer) Extent() format.LogExtent { return w.x }

// Next is the LSN that the next staged frame gets.
func (w *Writer) Next() format.LSN { return w.next }

// Staged is the number of frames that Write would write.
func (w *Writer) Staged() int { return int(w.next - w.written) }

// Used is the number of bytes that frames take in the extent, staged ones
// included.
func (w *Writer) Used() int64 { return w.end() - framesAt(w.x) }

// Failed reports whether a write failed. It stays so.
func (w *Writer) Failed() bool { return w.failed }

// Room is the largest payload, in bytes, that one more Stage takes. Space for
// one promise behind it is kept.
func (w *Writer) Room() int64 { return roomFor(w.trailer - w.end()) }

// Capacity is what Room was when the extent was empty.
func (w *Writer) Capacity() int64 { return Capacity(w.x.Length) }

func (w *Writer) end() int64 { return w.at + int64(len(w.group)) }

// Reserve makes space for a group of n more bytes, counted as the sum of
// format.FrameSize of the payloads, so that Stage need not move what is staged.
func (w *Writer) Reserve(n int64) {
	n = min(max(n, 0), w.trailer-w.end())
	w.group = slices.Grow(w.group, int(n))
}

// Stage lays out one frame with a batch of turns behind those that are staged
// already. fill appends exactly the payload to dst, which has a capacity of at
// least size more bytes, and returns the longer slice; size may be an estimate. count is the
// number of turns and firstID the id of the first.
//
// The payload stays as it is: the memory of a group is never used again, so
// that readers may keep it until the turns are sealed. It must not be changed.
//
// The error is ErrFull where the frame does not fit, ErrFailed after a failed
// write; in every case of error nothing was staged.
//
// REQUIRES: promised is the last LSN whose sync has returned.
func (w *Writer) Stage(promised format.LSN, firstID, count uint64, size int, fill func(dst []byte) []byte) (lsn format.LSN, payload []byte, err error) {
	if w.failed {
		return 0, nil, ErrFailed
	}
	if int64(size) > w.Room() {
		return 0, nil, ErrFull
	}
	start := len(w.group)
	group := slices.Grow(w.group, int(format.FrameSize(size)))
	group = fill(append(group, make([]byte, format.FrameHeaderSize)...))
	length := len(group) - start - format.FrameHeaderSize
	switch {
	case length < 0:
		return 0, nil, fmt.Errorf("frame %d: the payload's writer took away %d bytes", w.next, -length)
	case int64(length) > w.Room() || int64(length) > math.MaxUint32:
		return 0, nil, ErrFull
	}
	f := format.Frame{Type: format.FrameTurns, Promised: promised, FirstID: firstID, Count: count, Length: uint32(length)}
	if err := w.seal(group, start, &f); err != nil {
		return 0, nil, err
	}
	body := start + format.FrameHeaderSize
	return f.LSN, w.group[body : body+length : body+length], nil
}

// seal pads the frame that begins at start, writes its header, and makes it
// part of the group. What recovery would not accept is refused here already.
func (w *Writer) seal(group []byte, start int, f *format.Frame) error {
	var zeros [format.FrameAlign]byte
	pad := format.FrameSize(int(f.Length)) - int64(len(group)-start)
	group = append(group, zeros[:pad]...)
	at := w.at + int64(start)
	f.LSN, f.Salt = w.next, w.x.Salt
	format.PutFrame(group[start:], w.uuid, at, f)
	if _, ok := format.DecodeFrame(group[start:], w.uuid, w.x.Salt, at, w.trailer-at); !ok {
		return fmt.Errorf("frame %d: %d turns from id %d in %d bytes, promise %d: breaks the rules of the log",
			f.LSN, f.Count, f.FirstID, f.Length, f.Promised)
	}
	w.group = group
	w.next++
	return nil
}

// Write writes all staged frames with one WriteAt; the next group follows
// behind them. Without staged frames it does nothing. They are durable after
// the next Sync of the file.
//
// After an error the device may hold any part of the group, so that the writer
// refuses everything from then on; so must the caller, until what the log holds
// was put away and new salts were published.
func (w *Writer) Write() error {
	if w.failed {
		return ErrFailed
	}
	if len(w.group) == 0 {
		return nil
	}
	if err := disk.WriteFull(w.f, w.group, w.at); err != nil {
		w.failed = true
		return fmt.Errorf("write log frames %d to %d: %w", w.written, w.next-1, err)
	}
	w.at = w.end()
	w.group, w.written = nil, w.next
	return nil
}

// Discard drops what is staged and was never given to Write. Its LSNs are
// given again; payloads that Stage returned stay readable.
func (w *Writer) Discard() {
	w.group, w.next = nil, w.written
}

// Promise writes an empty frame that bears witness to promised, the last LSN
// whose sync has returned, and to nextID, the next id to be given. Without room
// it does nothing: the first frame of the next extent says the same. It needs
// no sync of its own.
//
// REQUIRES: nothing is staged.
func (w *Writer) Promise(promised format.LSN, nextID uint64) error {
	switch {
	case w.failed:
		return ErrFailed
	case len(w.group) > 0:
		return fmt.Errorf("promise %d: %d frames are staged", promised, w.Staged())
	case w.trailer-w.at < format.FrameSize(0):
		return nil
	}
	f := format.Frame{Type: format.FramePromise, Promised: promised, FirstID: nextID}
	if err := w.seal(make([]byte, format.FrameHeaderSize), 0, &f); err != nil {
		return err
	}
	return w.Write()
}
