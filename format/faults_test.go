package format

import (
	"encoding/binary"
	"math"
)

// fault is one way to break a structure. Where it is not raw, the checksums
// are set again behind it: then only the rule it breaks can find it.
type fault struct {
	structure, name string
	comment         string
	raw             bool
	expect          string
	shift           int64 // of the error's offset, from where the structure lies
	change          func(v *vector)
}

func set64(at int, x uint64) func(*vector) {
	return func(v *vector) { binary.LittleEndian.PutUint64(v.Body[at:], x) }
}

func set32(at int, x uint32) func(*vector) {
	return func(v *vector) { binary.LittleEndian.PutUint32(v.Body[at:], x) }
}

func set16(at int, x uint16) func(*vector) {
	return func(v *vector) { binary.LittleEndian.PutUint16(v.Body[at:], x) }
}

func set8(at int, x ...byte) func(*vector) { return func(v *vector) { copy(v.Body[at:], x) } }

func flip(at int) func(*vector) { return func(v *vector) { v.Body[at] ^= 1 } }

func cut(n int) func(*vector) { return func(v *vector) { v.Body = v.Body[:n] } }

func arg(name string, x uint64) func(*vector) { return func(v *vector) { v.Args[name] = x } }

func both(a, b func(*vector)) func(*vector) { return func(v *vector) { a(v); b(v) } }

func faults() (list []fault) {
	add := func(structure string, faults []fault) {
		for _, f := range faults {
			f.structure = structure
			if f.expect == "" {
				f.expect = "corrupt"
			}
			list = append(list, f)
		}
	}
	add("superblock", superblockFaults())
	add("holder", []fault{
		{name: "magic", comment: "no magic", expect: "none", change: flip(0)},
		{name: "checksum", comment: "a bit of the pid flipped", expect: "none", raw: true, change: flip(8)},
		{name: "host-length", comment: "a host of 256 bytes", expect: "none", change: set16(24, 256)},
		{name: "short", comment: "a byte is missing", expect: "none", change: cut(4095)},
	})
	add("leaf", leafFaults())
	add("root", rootFaults())
	for _, s := range []string{"log-header", "log-trailer"} {
		add(s, edgeFaults())
	}
	add("frame", frameFaults())
	add("segment-header", headerFaults())
	add("block", blockFaults())
	add("index-page", []fault{
		{name: "checksum", comment: "a bit of an entry flipped", raw: true, change: flip(3)},
		{name: "empty", comment: "a page without entries", change: set32(4080, 0)},
		{name: "count", comment: "256 entries", change: set32(4080, 256)},
		{name: "number", comment: "another page of the section", raw: true, change: arg("number", 4)},
		{name: "section", comment: "a page of another section", raw: true, change: arg("section", 1)},
		{name: "nonce", comment: "a page of another segment", raw: true, change: arg("nonce", fixNonce+1)},
		{name: "short", comment: "a byte is missing", raw: true, change: cut(4095)},
	})
	add("section-table", sectionFaults())
	add("footer", footerFaults())
	add("record", recordFaults())
	add("pieces", pieceFaults())
	add("source", sourceFaults())
	return list
}

// asCreating makes the superblock one of state creating; its log entries stay
// behind as bytes that nobody reads.
func asCreating(v *vector) {
	for _, change := range []func(*vector){set32(12, 1), set32(144, 0), set64(56, 0), set64(80, 1), set64(112, 0), set64(120, 0)} {
		change(v)
	}
}

func superblockFaults() []fault {
	const log0, log1 = 152, 152 + 64
	return []fault{
		{name: "magic", comment: "no magic", expect: "not-ctxdb", change: flip(0)},
		{name: "newline", comment: "CR LF became LF: the magic shows it", expect: "not-ctxdb", raw: true, change: set8(4, '\n', 0x1a, '\n')},
		{name: "short", comment: "a byte is missing", raw: true, change: cut(4095)},
		{name: "checksum", comment: "a bit of a reserved byte flipped", raw: true, change: flip(2000)},
		{name: "slot", comment: "slot B's bytes in slot A", raw: true, change: arg("at", SlotA)},
		{name: "major", comment: "the next version", expect: "version", change: set16(8, 2)},
		{name: "required", comment: "an unknown required feature", expect: "version", change: set64(32, 1<<63)},
		{name: "version-damaged", comment: "the next version, but damaged: nothing in it counts", raw: true, change: set16(8, 2)},
		{name: "state-zero", comment: "state 0", change: set32(12, 0)},
		{name: "state-four", comment: "state 4", change: set32(12, 4)},
		{name: "closed-with-log", comment: "closed, and yet a log", change: set32(12, 2)},
		{name: "open-without-log", comment: "open without a log", change: set32(144, 0)},
		{name: "creating", comment: "an empty file was claimed", expect: "ok", change: asCreating},
		{name: "creating-epoch", comment: "creating, but not the first epoch", change: both(asCreating, set64(56, 1))},
		{name: "creating-next-id", comment: "creating, and yet ids were given", change: both(asCreating, set64(80, 2))},
		{name: "creating-with-root", comment: "creating, and yet a catalog: starting over would lose it", change: both(asCreating, both(set64(112, 0x103000), set64(120, 0x1000)))},
		{name: "creating-with-log", comment: "creating, and yet a log", change: both(asCreating, set32(144, 1))},
		{name: "next-id-zero", comment: "next id 0", change: set64(80, 0)},
		{name: "next-id-limit", comment: "next id beyond the limit", change: set64(80, MaxTurns+2)},
		{name: "next-lsn-zero", comment: "next LSN 0", change: set64(88, 0)},
		{name: "root-unaligned", comment: "root at no multiple of 4,096", change: set64(112, 0x103008)},
		{name: "root-nowhere", comment: "a root with a length and no offset", change: set64(112, 0)},
		{name: "root-low", comment: "root over the holder block", change: set64(112, HolderOffset)},
		{name: "root-empty", comment: "root of no bytes", change: set64(120, 0)},
		{name: "root-negative", comment: "root at a negative offset", change: set64(112, 1<<63)},
		{name: "root-overflow", comment: "root whose end overflows 64 bits", change: set64(120, math.MaxInt64&^4095)},
		{name: "end-low", comment: "end before the first extent", change: set64(136, FirstExtent-1)},
		{name: "end-limit", comment: "end beyond the limit", change: set64(136, MaxFile+1)},
		{name: "root-behind-end", comment: "root ends beyond end", change: set64(112, 0x506070808000)},
		{name: "log-count", comment: "nine log extents", change: set32(144, 9)},
		{name: "log-zero-entry", comment: "three log extents, the third is zero", change: set32(144, 3)},
		{name: "log-short", comment: "log extent below 16,384 bytes", change: set64(log0+8, 0x3000)},
		{name: "log-long", comment: "log extent above 64 MiB", change: set64(log0+8, MaxLogExtent+4096)},
		{name: "log-unaligned", comment: "log extent at no multiple of 4,096", change: set64(log0, 0x203001)},
		{name: "log-behind-end", comment: "log extent ends beyond end", change: set64(log1, 0x506070808000)},
		{name: "log-cycle-order", comment: "log extents out of order", change: set64(log0+16, 0x0113141516171819)},
		{name: "log-cycle-zero", comment: "cycle 0", change: set64(log0+16, 0)},
		{name: "log-cycle-next", comment: "a cycle that was not given out", change: set64(log1+16, 0x0203040506070809)},
		{name: "log-overlap", comment: "two log extents share space", change: set64(log1, 0x216000)},
		{name: "log-over-root", comment: "a log extent and the root share space", change: set64(log0, 0x104000)},
	}
}

func leafFaults() []fault {
	const e0, e1 = 32, 32 + 112
	return []fault{
		{name: "magic", comment: "no magic", change: flip(0)},
		{name: "short", comment: "a byte is missing", raw: true, change: cut(4095)},
		{name: "checksum", comment: "a bit of an unused entry flipped", raw: true, change: flip(3000)},
		{name: "other-sum", comment: "an intact leaf, but not the one that the root names", raw: true, change: arg("sum", 1)},
		{name: "moved", comment: "an intact leaf in another place", raw: true, change: arg("at", 0xB000)},
		{name: "empty", comment: "no entries", change: set32(8, 0)},
		{name: "count", comment: "37 entries", change: set32(8, 37)},
		{name: "zero-entry", comment: "three entries, the third is zero", change: set32(8, 3)},
		{name: "unaligned", comment: "segment at no multiple of 4,096", change: set64(e0+8, 0x7008)},
		{name: "low", comment: "segment over a superblock", change: set64(e0+8, 4096)},
		{name: "negative-length", comment: "segment of negative length", change: set64(e0+16, 1<<63)},
		{name: "length-overflow", comment: "segment whose length overflows when rounded up", change: set64(e0+16, math.MaxInt64)},
		{name: "length-short", comment: "segment too short for header and footer", change: set64(e0+16, 191)},
		{name: "length-long", comment: "segment longer than block entries can address", change: set64(e1+16, MaxSegment+1)},
		{name: "first-id-zero", comment: "first id 0", change: set64(e0+24, 0)},
		{name: "turns-zero", comment: "no turns", change: set64(e0+32, 0)},
		{name: "turns-limit", comment: "ids beyond the limit", change: set64(e1+24, MaxTurns)},
		{name: "turns-overflow", comment: "ids that overflow 64 bits", change: set64(e0+32, math.MaxUint64)},
		{name: "ids-overlap", comment: "the second segment begins within the first", change: set64(e1+24, 0x11121314+0x21222323)},
		{name: "space-overlap", comment: "the second segment lies in the first one's space", change: set64(e1+8, 0xB000)},
		{name: "keys", comment: "more keys than turns", change: set32(e0+96, 0x21222325)},
		{name: "meta-turns", comment: "more turns of role meta than turns", change: set32(e0+100, 0x21222325)},
		{name: "times", comment: "the smallest time behind the largest", change: set64(e0+80, 0x111213141516171A)},
	}
}
