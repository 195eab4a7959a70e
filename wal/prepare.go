package wal

import (
	"fmt"

	"ctxdb/format"
	"ctxdb/format/disk"
)

// Prepare makes a log extent: zeros throughout, in writes of at most 256 KiB,
// then header and trailer. It does not sync; the caller does so before any
// superblock names the extent.
//
// Zeros are written even where the file has none yet: overwriting allocated
// space is what makes a commit cheap, and keeps a full disk from failing it.
func Prepare(f disk.File, uuid format.UUID, x format.LogExtent) error {
	if err := checkPlace(x); err != nil {
		return err
	}
	if err := disk.WriteZeros(f, x.Offset, x.Length); err != nil {
		return fmt.Errorf("prepare log extent: %w", err)
	}
	for _, trailer := range []bool{false, true} {
		if err := disk.WriteFull(f, format.EncodeLogEdge(uuid, x, trailer), edgeAt(x, trailer)); err != nil {
			return fmt.Errorf("prepare log extent: %w", err)
		}
	}
	return nil
}

// checkPlace holds an extent against the limits, before anything is allocated
// for it.
func checkPlace(x format.LogExtent) error {
	switch {
	case x.Offset < format.FirstExtent, x.Offset > format.MaxFile, x.Offset%format.ExtentAlign != 0,
		x.Length < format.MinLogExtent, x.Length > format.MaxLogExtent, x.Length%format.ExtentAlign != 0:
		return format.Corruptf("log extent", x.Offset, "%d bytes at %d break the limits", x.Length, x.Offset)
	}
	return nil
}

// edgeAt is the absolute offset of an extent's header or trailer.
func edgeAt(x format.LogExtent, trailer bool) int64 {
	if trailer {
		return x.Offset + x.Length - format.LogEdge
	}
	return x.Offset
}

// framesAt is the absolute offset of an extent's first frame.
func framesAt(x format.LogExtent) int64 { return x.Offset + format.LogEdge }

// Capacity is the largest payload, in bytes, that an empty extent of this
// length takes with a promise behind it.
func Capacity(length int64) int64 { return roomFor(length - 2*format.LogEdge) }

// roomFor is the largest payload for which free bytes suffice: for its frame
// and for the promise that follows when nobody waits.
//
// REQUIRES: free is a multiple of format.FrameAlign.
func roomFor(free int64) int64 {
	return max(0, free-format.FrameHeaderSize-format.FrameSize(0))
}
