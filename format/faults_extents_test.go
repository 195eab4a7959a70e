package format

import (
	"encoding/binary"
	"math"
)

func rootFaults() []fault {
	const leaf0, leaf1, run0, run1, lost0, vec0, vec1 = 80, 112, 144, 208, 272, 304, 368
	return []fault{
		{name: "magic", comment: "no magic", change: flip(0)},
		{name: "short", comment: "less than an extent unit", raw: true, change: cut(4095)},
		{name: "checksum", comment: "a bit behind the entries flipped", raw: true, change: flip(3000)},
		{name: "other-sum", comment: "an intact root, but not the one that the superblock names", raw: true, change: arg("sum", 1)},
		{name: "moved", comment: "an intact root in another place", raw: true, change: arg("at", 0xC000)},
		{name: "leaves", comment: "more leaf entries than bytes", change: set32(8, 127)},
		{name: "leaves-bomb", comment: "2^32-1 leaf entries", change: set32(8, math.MaxUint32)},
		{name: "runs-bomb", comment: "2^32-1 run entries", change: set32(12, math.MaxUint32)},
		{name: "lost-bomb", comment: "2^32-1 lost ranges", change: set32(16, math.MaxUint32)},
		{name: "segments", comment: "another number of segments than in the leaves", change: set64(24, 0x2B)},
		{name: "forgotten-unaligned", comment: "forgotten ids at no multiple of 4,096", change: set64(32, 0x100001)},
		{name: "forgotten-negative", comment: "forgotten ids of negative length", change: set64(40, 1<<63)},
		{name: "forgotten-nowhere", comment: "forgotten ids with a length and no offset", change: set64(32, 0)},
		{name: "aside-unaligned", comment: "aside at no multiple of 4,096", change: set64(56, 0x600001)},
		{name: "aside-bomb", comment: "aside beyond its limit", change: set64(64, MaxAside+1)},
		{name: "aside-over-forgotten", comment: "the aside in the space of the forgotten ids", change: set64(56, 0x100000)},
		{name: "leaf-unaligned", comment: "leaf at no multiple of 4,096", change: set64(leaf0, 0x9008)},
		{name: "leaf-order", comment: "leaves out of order", change: set64(leaf1+16, 0x21222324)},
		{name: "leaf-id-zero", comment: "leaf with first id 0", change: set64(leaf0+16, 0)},
		{name: "leaf-count", comment: "a leaf of 37 segments", change: both(set32(leaf0+24, 37), set64(24, 0x2B))},
		{name: "leaf-empty", comment: "a leaf of no segments", change: both(set32(leaf1+24, 0), set64(24, 0x24))},
		{name: "leaf-twice", comment: "one leaf named twice", change: set64(leaf1, 0x9000)},
		{name: "run-unaligned", comment: "run at no multiple of 4,096", change: set64(run0, 0x200008)},
		{name: "run-empty", comment: "run of no bytes", change: set64(run0+8, 0)},
		{name: "run-id-zero", comment: "run from id 0", change: set64(run0+16, 0)},
		{name: "run-backwards", comment: "run that ends where it begins", change: set64(run0+24, 0x11)},
		{name: "run-overlap", comment: "runs whose ids overlap", change: set64(run1+16, 0x22232424)},
		{name: "run-limit", comment: "run beyond the last possible id", change: set64(run1+24, MaxTurns+2)},
		{name: "run-keys", comment: "more keys than fit in the run", change: set64(run1+40, 256)},
		{name: "run-level", comment: "run of level 0", change: set32(run1+48, 0)},
		{name: "run-over-leaf", comment: "a run in a leaf's space", change: set64(run1, 0xB000)},
		{name: "lost-id-zero", comment: "lost range from id 0", change: set64(lost0, 0)},
		{name: "lost-empty", comment: "lost range of no ids", change: set64(lost0+8, 0)},
		{name: "lost-limit", comment: "lost range beyond the last possible id", change: set64(lost0+8, MaxTurns)},
		{name: "lost-unaligned", comment: "lost bytes at no multiple of 4,096", change: set64(lost0+16, 0x500001)},
		{name: "lost-part", comment: "lost bytes in no whole extent units", change: set64(lost0+24, 0x4001)},
		{name: "lost-negative", comment: "lost bytes of negative length", change: set64(lost0+24, 1<<63)},
		{name: "vectors-bomb", comment: "2^32-1 vector entries", change: set32(20, math.MaxUint32)},
		{name: "vectors-unaligned", comment: "vector run at no multiple of 4,096", change: set64(vec0, 0x700008)},
		{name: "vectors-over-run", comment: "a vector run in a key run's space", change: set64(vec1, 0x300000)},
		{name: "vectors-id-zero", comment: "vector run from id 0", change: set64(vec0+16, 0)},
		{name: "vectors-backwards", comment: "vector run that ends where it begins", change: set64(vec0+24, 0x13)},
		{name: "vectors-limit", comment: "vector run beyond the last possible id", change: set64(vec1+24, MaxTurns+2)},
		{name: "vectors-overlap", comment: "two runs of one model for one turn", change: set64(vec1+16, 0x24252626)},
		{name: "vectors-order", comment: "models out of order", change: set64(vec1+40, 0x1192939495969797)},
		{name: "vectors-models", comment: "runs of two models may cover the same turns", expect: "ok", change: both(set64(vec1+40, 0x1192939495969799), set64(vec1+16, 0x13))},
		{name: "vectors-bytes", comment: "more data than pages", change: set64(vec0+48, 0x3FE1)},
		{name: "vectors-bytes-bomb", comment: "data beyond its limit", change: set64(vec0+48, MaxVectorRun+1)},
		{name: "vectors-dims", comment: "dimensions beyond the limit", change: set32(vec0+56, MaxEmbedding+1)},
		{name: "vectors-dims-zero", comment: "vectors of no dimension", change: set32(vec0+56, 0)},
		{name: "vectors-room", comment: "more vectors than bytes for them", change: set32(vec0+60, 0x14A)},
		{name: "vectors-many", comment: "more vectors than turns", change: both(set32(vec1+56, 1), set32(vec1+60, 2))},
		{name: "lost-nowhere", comment: "lost bytes with a length and no offset", change: set64(lost0+16, 0)},
	}
}

func edgeFaults() []fault {
	return []fault{
		{name: "zero", comment: "zeros: never written", raw: true, change: func(v *vector) { clear(v.Body) }},
		{name: "short", comment: "a byte is missing", raw: true, change: cut(511)},
		{name: "checksum", comment: "a bit of the checksum flipped", raw: true, change: flip(56)},
		{name: "uuid", comment: "the extent of another file", raw: true, change: flip(8)},
		{name: "cycle", comment: "another use of the space", change: set64(24, 0x0103040506070810)},
		{name: "salt", comment: "another salt", change: set64(32, 1)},
		{name: "offset", comment: "another place", change: set64(40, 0x204000)},
		{name: "length", comment: "another length", change: set64(48, 0x15000)},
	}
}

func frameFaults() []fault {
	return []fault{
		{name: "zero", comment: "zero-filled space", expect: "none", raw: true, change: func(v *vector) { clear(v.Body) }},
		{name: "type-zero", comment: "type 0", expect: "none", change: set8(0, 0)},
		{name: "type-unknown", comment: "an unknown type that may not be skipped", expect: "none", change: set8(0, 3)},
		{name: "optional", comment: "an optional type: valid, to be skipped", expect: "ok", change: both(set8(0, 128), set64(32, 0))},
		{name: "optional-count", comment: "an optional frame may not count turns", expect: "none", change: set8(0, 128)},
		{name: "salt", comment: "a frame of another cycle", expect: "none", raw: true, change: arg("salt", fixSalt+1)},
		{name: "moved", comment: "an intact frame in another place, as in a ctxdb file stored as a turn", expect: "none", raw: true, change: arg("at", fixFrame+8)},
		{name: "head-sum", comment: "a bit of the header flipped", expect: "none", raw: true, change: flip(24)},
		{name: "body-sum", comment: "a bit of the payload flipped: the header is right", raw: true, change: flip(64)},
		{name: "body-short", comment: "the payload ends early: the header is right", raw: true, change: cut(100)},
		{name: "lsn-zero", comment: "LSN 0", expect: "none", change: set64(8, 0)},
		{name: "promise-self", comment: "a frame that promises itself", expect: "none", change: set64(16, 0x1112131415161718)},
		{name: "first-id-zero", comment: "first id 0", expect: "none", change: set64(24, 0)},
		{name: "first-id-limit", comment: "first id beyond the limit", expect: "none", change: set64(24, MaxTurns+2)},
		{name: "count-limit", comment: "ids beyond the limit", expect: "none", change: set64(24, MaxTurns-1)},
		{name: "count-zero", comment: "a batch of no turns", expect: "none", change: set64(32, 0)},
		{name: "count-bytes", comment: "more turns than bytes", expect: "none", change: set64(32, 40)},
		{name: "length-room", comment: "the frame ends behind the trailer", expect: "none", raw: true, change: arg("room", 64+38)},
		{name: "length-bomb", comment: "4 GiB of payload", expect: "none", change: set32(4, math.MaxUint32)},
		{name: "promise", comment: "an empty promise frame", expect: "ok", change: asPromise(0)},
		{name: "promise-count", comment: "a promise that counts turns", expect: "none", change: asPromise(1)},
		{name: "promise-payload", comment: "a promise with a payload", expect: "none", change: both(set8(0, 2), set64(32, 0))},
	}
}

func asPromise(count uint64) func(*vector) {
	return func(v *vector) {
		v.Body = v.Body[:FrameHeaderSize]
		v.Body[0] = 2
		binary.LittleEndian.PutUint32(v.Body[4:], 0)
		binary.LittleEndian.PutUint64(v.Body[32:], count)
	}
}

func headerFaults() []fault {
	return []fault{
		{name: "magic", comment: "no magic", change: flip(0)},
		{name: "short", comment: "a byte is missing", raw: true, change: cut(127)},
		{name: "checksum", comment: "a bit of a reserved byte flipped", raw: true, change: flip(100)},
		{name: "length-short", comment: "too short for header and footer", change: set64(56, 191)},
		{name: "length-long", comment: "longer than block entries can address", change: set64(56, MaxSegment+1)},
		{name: "length-negative", comment: "negative length", change: set64(56, 1<<63)},
		{name: "first-id-zero", comment: "first id 0", change: set64(40, 0)},
		{name: "turns-zero", comment: "no turns", change: set64(48, 0)},
		{name: "turns-limit", comment: "ids beyond the limit", change: set64(40, MaxTurns)},
		{name: "turns-relative", comment: "more turns than a block can count", change: both(set64(40, 1), set64(48, 1<<32+1))},
	}
}

func blockFaults() []fault {
	return []fault{
		{name: "magic", comment: "no magic", change: set16(30, 0xB10D)},
		{name: "short", comment: "half a header", raw: true, change: cut(16)},
		{name: "stored-short", comment: "a stored byte is missing", raw: true, change: cut(32 + 36)},
		{name: "checksum", comment: "a bit of the stored bytes flipped", raw: true, change: flip(40)},
		{name: "moved", comment: "an intact block in another place of the segment", raw: true, change: arg("at", fixBlock+8)},
		{name: "nonce", comment: "a block of another segment", raw: true, change: arg("nonce", fixNonce+1)},
		{name: "raw-limit", comment: "more than 1 MiB of plaintext", change: set32(12, MaxBlockRaw+1)},
		{name: "stored-bomb", comment: "4 GiB of stored bytes", change: set32(8, math.MaxUint32)},
		{name: "stream-zero", comment: "stream 0", change: set8(28, 0)},
		{name: "stream", comment: "an unknown stream", change: set8(28, 4)},
		{name: "dictionary", comment: "a dictionary, stored without a dictionary", expect: "ok", change: both(set8(28, 1), set8(29, 1))},
		{name: "dictionary-itself", comment: "a dictionary that needs itself", change: set8(28, 1)},
		{name: "codec", comment: "an unknown codec", change: set8(29, 3)},
		{name: "raw-stored", comment: "stored as it is, in another length", change: set8(29, 0)},
	}
}

func sectionFaults() []fault {
	const s1 = SectionEntrySize
	return []fault{
		{name: "checksum", comment: "a bit flipped", raw: true, change: flip(9)},
		{name: "short", comment: "an entry is missing", raw: true, change: cut(3 * s1)},
		{name: "order", comment: "types out of order", change: set32(0, 3)},
		{name: "offset-header", comment: "a section over the segment's header", change: set64(8, 120)},
		{name: "offset-negative", comment: "a section at a negative offset", change: set64(8, 1<<63)},
		{name: "length-negative", comment: "a section of negative length", change: set64(16, 1<<63)},
		{name: "length-overflow", comment: "a section whose end overflows", change: set64(16, math.MaxInt64)},
		{name: "over-table", comment: "a section that runs into the section table", change: set64(3*s1+16, 0x1029)},
		{name: "pages-unaligned", comment: "index pages at no multiple of 8", change: set64(s1+8, 0x2399)},
		{name: "dictionary-low", comment: "a dictionary too short for a block header", change: set64(2*s1+16, 31)},
		{name: "dictionary-entries", comment: "two dictionaries", change: set64(2*s1+24, 2)},
		{name: "pages", comment: "an index section of half a page", change: set64(s1+16, 0x800)},
		{name: "entries", comment: "more entries than the pages hold", change: set64(s1+24, 256)},
		{name: "entries-bomb", comment: "2^64-1 entries", change: set64(24, math.MaxUint64)},
		{name: "pages-spare", comment: "a page more than the entries fill", change: set64(24, 255)},
	}
}

func footerFaults() []fault {
	return []fault{
		{name: "magic", comment: "no magic", change: flip(0)},
		{name: "short", comment: "a byte is missing", raw: true, change: cut(63)},
		{name: "checksum", comment: "a bit of a reserved byte flipped", raw: true, change: flip(50)},
		{name: "number", comment: "the footer of another segment", change: set64(8, 1)},
		{name: "sections", comment: "65 sections", change: both(set32(24, 65), set64(16, fixLength-64-65*32))},
		{name: "sections-bomb", comment: "2^32-1 sections", change: set32(24, math.MaxUint32)},
		{name: "table", comment: "a table that does not end at the footer", change: set64(16, 0x4300)},
		{name: "table-negative", comment: "a table at a negative offset", change: set64(16, 1<<63)},
	}
}
