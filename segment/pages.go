package segment

import (
	"math"

	"ctxdb/format"
)

// pageSet is the index pages of one section, or of a key run.
type pageSet struct {
	region  *region
	uuid    format.UUID
	nonce   uint64
	section format.SectionType
	offset  int64 // in the region
	entries int
	pages   int // invariant: pages == format.IndexPages(entries)
}

// init takes the place of the pages from the section table.
func (p *pageSet) init(r *region, uuid format.UUID, nonce uint64, section format.Section) error {
	if section.Length < 0 || section.Entries > uint64(section.Length) || section.Entries > math.MaxInt || section.Offset < 0 ||
		section.Offset > r.length || section.Length > r.length-section.Offset ||
		int64(format.IndexPages(int(section.Entries)))*format.IndexPageSize != section.Length {
		return format.Corruptf("section table", r.offset+section.Offset, "%d entries in %d bytes of index pages", section.Entries, section.Length)
	}
	*p = pageSet{
		region: r, uuid: uuid, nonce: nonce, section: section.Type,
		offset: section.Offset, entries: int(section.Entries), pages: format.IndexPages(int(section.Entries)),
	}
	return nil
}

// count is the number of entries of page i.
func (p *pageSet) count(i int) int {
	return min(p.entries-i*format.IndexPageEntries, format.IndexPageEntries)
}

// at is the absolute offset of page i.
func (p *pageSet) at(i int) int64 {
	return p.region.offset + p.offset + int64(i)*format.IndexPageSize
}

// load copies page i to page and verifies it.
//
// REQUIRES: 0 <= i < p.pages, len(page) == format.IndexPageSize.
func (p *pageSet) load(page []byte, i int) error {
	if err := p.region.read(page, p.offset+int64(i)*format.IndexPageSize); err != nil {
		return err
	}
	n, err := format.CheckPage(page, p.uuid, p.nonce, p.section, i, p.at(i))
	if err != nil {
		return err
	}
	if n != p.count(i) {
		return format.Corruptf("index page", p.at(i), "%d entries, but the section table says %d", n, p.count(i))
	}
	return nil
}

// blockKey orders pieces: the turn, then the part.
type blockKey uint64

const lastPart = 1<<32 - 1

func makeBlockKey(turn, part uint32) blockKey { return blockKey(turn)<<32 | blockKey(part) }

func entryKey(e format.BlockEntry) blockKey { return makeBlockKey(e.Turn, e.Part) }

// cursor stands on an entry of a section of block entries.
type cursor struct {
	set  *pageSet
	i    int // of the entry in the section
	at   format.BlockEntry
	have int    // the page that page holds, verified; -1: none
	page []byte // format.IndexPageSize bytes
}

// guess moves to the last block whose first piece is at or before key, going by
// pages as they are: a copy of them, or else the mapped ones. It is a hint: the
// block must prove that it is the right one, and that something is absent can't be
// concluded from it.
func (c *cursor) guess(set *pageSet, key blockKey, pages []byte) bool {
	c.set, c.have = set, -1
	if m := set.region.mapped.Load(); pages == nil && m != nil {
		pages = m.bytes[set.offset : set.offset+int64(set.pages)*format.IndexPageSize]
	}
	if pages == nil || set.entries == 0 {
		return false
	}
	e, i, ok := guardedSearch(pages, set.entries, key)
	c.at, c.i = e, i
	return ok && i >= 0
}

// seek moves to the last block whose first piece is at or before key, by verified
// pages.
func (c *cursor) seek(set *pageSet, key blockKey) error {
	c.set, c.have = set, -1
	if set.entries == 0 {
		return format.Corruptf("index page", set.region.offset, "no entries")
	}
	lo, hi := 0, c.set.pages-1
	for lo < hi {
		mid := int(uint(lo+hi+1) >> 1)
		if err := c.load(mid); err != nil {
			return err
		}
		if entryKey(format.BlockEntryAt(c.page, 0)) > key {
			hi = mid - 1
			continue
		}
		lo = mid
		if key <= entryKey(format.BlockEntryAt(c.page, c.set.count(mid)-1)) {
			break
		}
	}
	if err := c.load(lo); err != nil {
		return err
	}
	if entryKey(format.BlockEntryAt(c.page, 0)) > key {
		return format.Corruptf("index page", c.set.at(lo), "turn %d lies before the first block", uint32(key>>32))
	}
	c.stand(lo*format.IndexPageEntries + c.within(lo, key))
	return nil
}

// within is the last entry of the loaded page that is at most key, or 0.
func (c *cursor) within(page int, key blockKey) int {
	lo, hi := 0, c.set.count(page)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if entryKey(format.BlockEntryAt(c.page, mid)) <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return max(lo-1, 0)
}

// next moves to the following block; false at the end.
func (c *cursor) next() (bool, error) {
	if c.i+1 >= c.set.entries {
		return false, nil
	}
	if err := c.load((c.i + 1) / format.IndexPageEntries); err != nil {
		return true, err
	}
	c.stand(c.i + 1)
	return true, nil
}

// stand takes entry i from its page, which is loaded.
func (c *cursor) stand(i int) {
	c.i, c.at = i, format.BlockEntryAt(c.page, i%format.IndexPageEntries)
}

func (c *cursor) load(page int) error {
	if c.have == page {
		return nil
	}
	c.have = -1
	if err := c.set.load(c.page, page); err != nil {
		return err
	}
	c.have = page
	return nil
}
