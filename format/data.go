package format

import "encoding/binary"

// DataPageBytes is what a data page of IndexPageSize bytes holds: sections of
// any content are cut into such pages, each with a checksum of its own, so that
// a part of one can be read and trusted.
const DataPageBytes = IndexPageSize - 8

// DataPages is the number of pages that n bytes fill.
func DataPages(n int) int { return (n + DataPageBytes - 1) / DataPageBytes }

// SealDataPage finishes a page whose data is in place. number is that of the
// page in its section.
func SealDataPage(page []byte, uuid UUID, nonce uint64, section SectionType, number int) {
	binary.LittleEndian.PutUint64(page[DataPageBytes:], bind(uuid, KindDataPage, nonce, pagePlace(section, number), page[:DataPageBytes]))
}

// CheckDataPage verifies a page that lies at the absolute offset at.
func CheckDataPage(page []byte, uuid UUID, nonce uint64, section SectionType, number int, at int64) error {
	if len(page) < IndexPageSize || bind(uuid, KindDataPage, nonce, pagePlace(section, number), page[:DataPageBytes]) != binary.LittleEndian.Uint64(page[DataPageBytes:]) {
		return Corruptf("data page", at, "checksum differs")
	}
	return nil
}
