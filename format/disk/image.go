package disk

import "sync/atomic"

// pageSize is the unit in which images share bytes.
const pageSize = 4096

// page belongs to the image that made it; other images may share it, and then
// nobody changes it. Owner 0 is no image: the bytes are part of a change.
type page struct {
	owner uint64 // invariant: never changes
	data  *[pageSize]byte
}

// ownPage is a page with its bytes, in one allocation.
type ownPage struct {
	page
	bytes [pageSize]byte
}

func newPage(owner uint64) *page {
	p := &ownPage{page: page{owner: owner}}
	p.data = &p.bytes
	return &p.page
}

// image is the content of a file. Clones share all pages and the table of
// pages until one of them writes.
//
// invariant: len(pages) == ceil(size/pageSize); nil pages and all bytes behind
// size are zero; a page is written only while page.owner == image.owner,
// and no image has owner 0.
type image struct {
	size        int64
	pages       []*page
	owner       uint64
	tableShared bool // the array behind pages is not ours alone
}

var lastOwner atomic.Uint64

func newImage() image { return image{owner: lastOwner.Add(1)} }

// clone costs no copy. Both sides get a new owner, so both see all present
// pages as shared.
func (im *image) clone() image {
	im.owner, im.tableShared = lastOwner.Add(1), true
	c := *im
	c.owner = lastOwner.Add(1)
	return c
}

func (im *image) readAt(p []byte, off int64) int {
	if off >= im.size {
		return 0
	}
	p = p[:min(int64(len(p)), im.size-off)]
	for done := 0; done < len(p); {
		i, at := locate(off + int64(done))
		part := p[done:min(len(p), done+pageSize-at)]
		if pg := im.pages[i]; pg != nil {
			copy(part, pg.data[at:])
		} else {
			clear(part)
		}
		done += len(part)
	}
	return len(p)
}

// writeAt writes p, which must never change afterwards: whole pages of it
// become part of the image without a copy.
func (im *image) writeAt(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	if end := off + int64(len(p)); end > im.size {
		im.resize(end)
	}
	im.ownTable()
	shared := make([]page, 0, len(p)/pageSize) // one allocation; never grows, so pointers into it hold
	for len(p) > 0 {
		i, at := locate(off)
		n := min(len(p), pageSize-at)
		if n == pageSize {
			shared = append(shared, page{data: (*[pageSize]byte)(p)})
			im.pages[i] = &shared[len(shared)-1]
		} else {
			copy(im.writable(i).data[at:], p[:n])
		}
		p, off = p[n:], off+int64(n)
	}
}

// resize cuts, or appends zeros.
func (im *image) resize(size int64) {
	if size < im.size {
		im.zero(size, im.size)
	}
	n := pagesFor(size)
	switch {
	case n < len(im.pages):
		im.ownTable()
		clear(im.pages[n:])
		im.pages = im.pages[:n]
	case n > len(im.pages):
		im.ownTable()
		im.pages = append(im.pages, make([]*page, n-len(im.pages))...)
	}
	im.size = size
}

// zero clears the bytes from <= offset < to, as far as the image reaches.
func (im *image) zero(from, to int64) {
	to = min(to, im.size)
	if from >= to {
		return
	}
	im.ownTable()
	for from < to {
		i, at := locate(from)
		n := min(int64(pageSize-at), to-from)
		switch {
		case im.pages[i] == nil:
		case n == pageSize || (at == 0 && to == im.size):
			im.pages[i] = nil
		default:
			clear(im.writable(i).data[at : at+int(n)])
		}
		from += n
	}
}

// writable returns page i for this image alone.
func (im *image) writable(i int) *page {
	old := im.pages[i]
	if old != nil && old.owner == im.owner {
		return old
	}
	fresh := newPage(im.owner)
	if old != nil {
		*fresh.data = *old.data
	}
	im.pages[i] = fresh
	return fresh
}

func (im *image) ownTable() {
	if im.tableShared {
		im.pages = append(make([]*page, 0, len(im.pages)+8), im.pages...)
		im.tableShared = false
	}
}

func (im *image) bytes() []byte {
	p := make([]byte, im.size)
	im.readAt(p, 0)
	return p
}

func locate(off int64) (pageIndex, at int) { return int(off / pageSize), int(off % pageSize) }

func pagesFor(size int64) int { return int((size + pageSize - 1) / pageSize) }
