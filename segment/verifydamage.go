package segment

import (
	"fmt"

	"ctxdb/format"
)

// damage is a finding that still grows: blocks that can't be read are met before
// the turns that are lost with them. One place is one finding.
type damage struct {
	found Finding
	more  int   // blocks right behind it that are damaged too
	last  int64 // the offset of the last of them
	// lastLost is the last turn that was found lost; 0: none yet.
	lastLost uint64
}

// damaged takes note of bytes of a stream that are no intact block.
func (v *segmentVerifier) damaged(stream format.Stream) func(error) {
	return func(err error) {
		f := finding("block", v.s.offset, 0, 0, v.s.located(err))
		if v.ofDictionary(f.Offset) {
			v.dictionaryDamaged(err)
			return
		}
		d := v.open(stream)
		switch {
		case d.found.Err == nil || d.found.Count > 0:
			v.close(stream)
			d.found, d.last = f, f.Offset
		case f.Offset != d.last:
			d.more++
			d.last = f.Offset
		}
	}
}

// lost gives turns to the damage that they are lost with.
func (v *segmentVerifier) lost(e *RangeError) {
	region, stream := "turns", format.StreamContent
	if e.Source {
		region, stream = "sources", format.StreamSource
	}
	f := finding(region, v.s.offset, e.FirstID, e.Count, e.Err)
	d := v.open(stream)
	d.lastLost = e.FirstID + e.Count - 1
	switch {
	case v.ofDictionary(f.Offset) && v.dictionaryTold:
	case d.found.Err == nil || f.Offset != d.last:
		v.close(stream)
		v.report(f)
	case d.found.Count == 0:
		d.found.FirstID, d.found.Count = e.FirstID, e.Count
	default:
		d.found.Count = d.lastLost + 1 - d.found.FirstID
	}
}

func (v *segmentVerifier) open(stream format.Stream) *damage {
	if stream == format.StreamSource {
		return &v.opened[1]
	}
	return &v.opened[0]
}

// close reports the damage of a stream: no further turn is lost with it. Blocks with
// which none is lost any more are of one that is lost already.
func (v *segmentVerifier) close(stream format.Stream) {
	d := v.open(stream)
	f := d.found
	if f.Err == nil {
		return
	}
	if f.Count == 0 && d.lastLost > 0 {
		f.FirstID, f.Count = d.lastLost, 1
	}
	if stream == format.StreamSource {
		f.Region = "source block"
	}
	if d.more > 0 {
		f.Err = fmt.Errorf("%w; damaged blocks behind it: %d, the last at offset %d", f.Err, d.more, d.last)
	}
	*d = damage{lastLost: d.lastLost}
	v.report(f)
}

// closeBoth ends what is open of either stream.
func (v *segmentVerifier) closeBoth() {
	v.close(format.StreamContent)
	v.close(format.StreamSource)
}

// ofDictionary reports whether an offset is that of the segment's dictionary: damage
// there is met with each block that needs it.
func (v *segmentVerifier) ofDictionary(offset int64) bool {
	return v.hasDictionary && offset == v.s.offset+format.SegmentHeaderSize
}

// dictionaryDamaged reports the dictionary once, for all turns of the segment.
func (v *segmentVerifier) dictionaryDamaged(err error) {
	if !v.dictionaryTold {
		v.dictionaryTold = true
		v.report(finding("block", v.s.offset, v.s.entry.FirstID, v.s.entry.Turns, v.s.located(err)))
	}
}
