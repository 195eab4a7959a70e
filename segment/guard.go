package segment

import (
	"encoding/binary"
	"runtime/debug"
	"unsafe"

	"ctxdb/format"
)

// A mapped byte may be gone: the file was cut short, or the disk failed. The
// system then delivers a fault instead of a byte. The functions here turn such a
// fault into false, and only such a fault: one at an address outside of the
// mapping goes on as the panic it is. They are all that touches mapped memory.

// addressed is what the runtime panics with at a fault.
type addressed interface {
	error
	Addr() uintptr
}

// settle ends a guarded touch of mapped. It must be deferred directly.
func settle(old bool, mapped []byte, ok *bool) {
	debug.SetPanicOnFault(old)
	r := recover()
	if r == nil {
		return
	}
	fault, is := r.(addressed)
	if !is || !within(fault.Addr(), mapped) {
		panic(r)
	}
	*ok = false
}

func within(addr uintptr, mapped []byte) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(mapped)))
	return addr >= start && addr-start < uintptr(len(mapped))
}

// guardedCopy copies mapped bytes to dst. ok is false where they could not be
// read; dst is then undefined.
//
// REQUIRES: len(dst) <= len(mapped).
func guardedCopy(dst, mapped []byte) (ok bool) {
	defer settle(debug.SetPanicOnFault(true), mapped, &ok)
	copy(dst, mapped)
	return true
}

// guardedSearch finds, among n entries of index pages, mapped or copied, the last
// one whose key is at most key, and its place. i is -1 where all are greater.
// Nothing is verified: the answer is a hint.
//
// REQUIRES: mapped holds all pages of n entries.
func guardedSearch(mapped []byte, n int, key blockKey) (e format.BlockEntry, i int, ok bool) {
	defer settle(debug.SetPanicOnFault(true), mapped, &ok)
	lo, hi := 0, n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if mappedKey(mapped, mid) <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if i = lo - 1; i >= 0 {
		e = format.BlockEntryAt(mapped[i/format.IndexPageEntries*format.IndexPageSize:], i%format.IndexPageEntries)
	}
	return e, i, true
}

func mappedKey(mapped []byte, i int) blockKey {
	p := i/format.IndexPageEntries*format.IndexPageSize + i%format.IndexPageEntries*16
	b := mapped[p : p+8]
	return makeBlockKey(binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]))
}
