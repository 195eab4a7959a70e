package segment

import (
	"fmt"
	"io"
	"sync"

	"ctxdb/format"
)

// dataPages cuts the bytes of a section into checked pages.
func dataPages(data []byte, id Identity, section format.SectionType) []byte {
	pages := make([]byte, format.DataPages(len(data))*format.IndexPageSize)
	for i := 0; len(data) > 0; i++ {
		page := pages[i*format.IndexPageSize:][:format.IndexPageSize]
		data = data[copy(page[:format.DataPageBytes], data):]
		format.SealDataPage(page, id.UUID, id.Nonce, section, i)
	}
	return pages
}

// Data reads a section of data pages. It is an io.ReaderAt over the section's
// bytes, each page verified before any byte of it is handed out; for many
// goroutines. Each read takes a reference to the segment for as long as it runs.
type Data struct {
	held    references
	region  *region
	uuid    format.UUID
	nonce   uint64
	section format.Section
	seen    pageMarks   // of pages that were verified; nil: each read verifies
	doubt   func() bool // reports whether marks are not to be relied on now; nil: never
}

// Data finds a section that Build was given as an Extra. ok is false where the
// segment has none.
func (s *Segment) Data(t format.SectionType) (d *Data, ok bool, err error) {
	l, err := s.enter()
	if err != nil {
		return nil, false, err
	}
	defer s.Release()
	for _, x := range l.sections {
		if x.Type != t {
			continue
		}
		if x.Entries > uint64(x.Length) || int64(format.DataPages(int(x.Entries)))*format.IndexPageSize != x.Length {
			return nil, false, s.corrupt("section table", l.footer.TableOffset, "%d bytes of data in %d bytes of pages", x.Entries, x.Length)
		}
		return &Data{held: s, region: &s.region, uuid: s.uuid, nonce: s.entry.Nonce, section: x}, true, nil
	}
	return nil, false, nil
}

// Once makes reads verify each page once, at the first byte that is wanted of it,
// and from then on copy nothing but what is wanted. It must be called before the
// first read. What it gives up is to notice, before Verify does, bytes that rot
// under an open file after they were good: it is for indexes, whose answers are
// held against a block, which is verified at each read.
//
// A page that was good says nothing about bytes that were given to another owner.
// No read relies on a mark once the segment is closed, even while it runs. Where another
// process may do that, who believes an answer asks the superblocks after it
// whether the segment is still there, or has every page verified meanwhile: as
// long as doubt reports true, which each read asks. nil: it never does.
func (d *Data) Once(doubt func() bool) {
	d.seen, d.doubt = newPageMarks(format.DataPages(int(d.section.Entries))), doubt
}

// good reports whether a page was verified, which is enough at the moment.
func (d *Data) good(number int) bool {
	return d.seen.has(number) && (d.doubt == nil || !d.doubt())
}

// Doubt forgets which pages were good, for who met bytes there that make no sense.
func (d *Data) Doubt() { d.seen.clear() }

// Size is the number of bytes of the section.
func (d *Data) Size() int64 { return int64(d.section.Entries) }

// references keep a region readable.
type references interface {
	Acquire() bool
	Release()
}

var dataBuffers = sync.Pool{New: func() any { return new([format.IndexPageSize]byte) }}

// ReadAt follows io.ReaderAt.
func (d *Data) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("read of a section at offset %d", off)
	}
	if !d.held.Acquire() {
		return 0, d.region.errClosed()
	}
	defer d.held.Release()
	relied := false // on a mark
	for n < len(p) {
		if off >= d.Size() {
			return n, io.EOF
		}
		number, from := int(off/format.DataPageBytes), off%format.DataPageBytes
		m := int(min(format.DataPageBytes-from, d.Size()-off, int64(len(p)-n)))
		marked, err := d.readWithin(p[n:n+m], number, from)
		if err != nil {
			return n, err
		}
		relied = relied || marked
		n, off = n+m, off+int64(m)
	}
	if !relied {
		return n, nil
	}
	if err := d.region.Closed(); err != nil {
		return 0, err // what was copied may have been another owner's
	}
	return n, nil
}

// readWithin copies bytes of one page. marked: it was not verified now, but before.
func (d *Data) readWithin(p []byte, number int, from int64) (marked bool, err error) {
	if d.good(number) {
		return true, d.region.read(p, d.at(number)+from)
	}
	page := dataBuffers.Get().(*[format.IndexPageSize]byte)
	defer dataBuffers.Put(page)
	if err := d.load(page[:], number); err != nil {
		return false, err
	}
	copy(p, page[from:format.DataPageBytes])
	d.seen.add(number)
	return false, nil
}

// at is where a page lies in the region.
func (d *Data) at(number int) int64 {
	return d.section.Offset + int64(number)*format.IndexPageSize
}

// load copies a page and verifies it.
func (d *Data) load(page []byte, number int) error {
	at := d.at(number)
	if err := d.region.read(page, at); err != nil {
		return err
	}
	if err := format.CheckDataPage(page, d.uuid, d.nonce, d.section.Type, number, d.region.offset+at); err != nil {
		return d.region.located(err)
	}
	return nil
}

// verifyData checks every page of the sections that this package knows nothing
// about.
func (v *segmentVerifier) verifyData(l *layout) {
	for _, t := range []format.SectionType{format.SectionHot, format.SectionTerms, format.SectionVectors} {
		d, ok, err := v.s.Data(t)
		if err != nil {
			v.report(finding("section table", v.s.offset, v.s.entry.FirstID, v.s.entry.Turns, err))
			return
		}
		if !ok {
			continue
		}
		d.verify(&v.verifier, v.s.entry.FirstID, v.s.entry.Turns)
	}
}

// verify checks every page.
func (d *Data) verify(v *verifier, firstID, turns uint64) {
	var page [format.IndexPageSize]byte
	for i := 0; i < format.DataPages(int(d.Size())) && !v.stopped(); i++ {
		if err := d.load(page[:], i); err != nil {
			v.report(finding("data page", d.region.offset, firstID, turns, err))
		}
	}
}
