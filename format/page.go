package format

import "encoding/binary"

// Index pages: fixed entries of 16 bytes, sorted, checked a page at a time.
const (
	IndexPageSize    = 4096
	IndexPageEntries = 255
	indexEntrySize   = 16
)

// IndexPages is the number of pages that n entries fill.
func IndexPages(n int) int { return (n + IndexPageEntries - 1) / IndexPageEntries }

// BlockEntry finds a block of a stream by turn and part.
type BlockEntry struct {
	Turn   uint32 // of its first piece, relative to the segment's first id
	Part   uint32
	Offset int64 // in the segment
	Stored uint32
}

// KeyEntry finds a TurnID by the hash of its key.
type KeyEntry struct {
	Hash uint64
	ID   uint64
}

// Less orders key entries by hash, then id.
func (e KeyEntry) Less(o KeyEntry) bool {
	return e.Hash < o.Hash || e.Hash == o.Hash && e.ID < o.ID
}

// PutBlockEntry writes entry i of a page under construction.
func PutBlockEntry(page []byte, i int, e BlockEntry) {
	b := page[i*indexEntrySize:]
	le := binary.LittleEndian
	le.PutUint32(b[0:], e.Turn)
	le.PutUint32(b[4:], e.Part)
	le.PutUint32(b[8:], uint32(e.Offset/BlockAlign))
	le.PutUint32(b[12:], e.Stored)
}

// BlockEntryAt reads entry i of a page.
//
// REQUIRES: 0 <= i < IndexPageEntries, len(page) == IndexPageSize.
func BlockEntryAt(page []byte, i int) BlockEntry {
	b := page[i*indexEntrySize:]
	le := binary.LittleEndian
	return BlockEntry{Turn: le.Uint32(b[0:]), Part: le.Uint32(b[4:]), Offset: int64(le.Uint32(b[8:])) * BlockAlign, Stored: le.Uint32(b[12:])}
}

// PutKeyEntry writes entry i of a page under construction.
func PutKeyEntry(page []byte, i int, e KeyEntry) {
	b := page[i*indexEntrySize:]
	binary.LittleEndian.PutUint64(b[0:], e.Hash)
	binary.LittleEndian.PutUint64(b[8:], e.ID)
}

// KeyEntryAt reads entry i of a page.
//
// REQUIRES: 0 <= i < IndexPageEntries, len(page) == IndexPageSize.
func KeyEntryAt(page []byte, i int) KeyEntry {
	b := page[i*indexEntrySize:]
	return KeyEntry{Hash: binary.LittleEndian.Uint64(b[0:]), ID: binary.LittleEndian.Uint64(b[8:])}
}

// SealPage finishes a page that has count entries. number is that of the page
// in its section.
func SealPage(page []byte, uuid UUID, nonce uint64, section SectionType, number, count int) {
	binary.LittleEndian.PutUint32(page[4080:], uint32(count))
	binary.LittleEndian.PutUint64(page[4088:], bind(uuid, KindIndexPage, nonce, pagePlace(section, number), page[:4088]))
}

// CheckPage verifies a page that lies at the absolute offset at and returns the
// number of its entries.
func CheckPage(page []byte, uuid UUID, nonce uint64, section SectionType, number int, at int64) (count int, err error) {
	if len(page) < IndexPageSize {
		return 0, Corruptf("index page", at, "%d of %d bytes", len(page), IndexPageSize)
	}
	if bind(uuid, KindIndexPage, nonce, pagePlace(section, number), page[:4088]) != binary.LittleEndian.Uint64(page[4088:]) {
		return 0, Corruptf("index page", at, "checksum differs")
	}
	n := binary.LittleEndian.Uint32(page[4080:])
	if n < 1 || n > IndexPageEntries {
		return 0, Corruptf("index page", at, "%d entries", n)
	}
	return int(n), nil
}

func pagePlace(section SectionType, number int) uint64 {
	return uint64(section)<<32 + uint64(uint32(number))
}
