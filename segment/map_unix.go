//go:build linux || freebsd || darwin

package segment

import (
	"errors"
	"math"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"

	"ctxdb/format/disk"
)

// mapAlign is the largest granularity of a mapping's start that we meet.
const mapAlign = 64 << 10

var errNoMap = errors.New("file offers no mapping")

// mapping is a piece of a file in memory, read-only.
type mapping struct {
	whole mmap.MMap
	bytes []byte // the part that was asked for
}

// mapFile maps n bytes of f from offset. They must lie within the file: touching
// mapped bytes behind its end is a fault.
func mapFile(f disk.File, offset, n int64) (*mapping, error) {
	m, ok := f.(disk.Mapper)
	if !ok {
		return nil, errNoMap
	}
	start := offset &^ (mapAlign - 1)
	size := offset - start + n
	if size > math.MaxInt {
		return nil, errNoMap
	}
	conn, err := m.OSFile().SyscallConn()
	if err != nil {
		return nil, err
	}
	// Under Control a file that is closed meanwhile keeps its descriptor: its
	// number could be another file's by then.
	var whole mmap.MMap
	if cerr := conn.Control(func(uintptr) {
		whole, err = mmap.MapRegion(m.OSFile(), int(size), mmap.RDONLY, 0, start)
	}); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		return nil, err
	}
	// A fault reads the pages of its block and no others: what the system reads
	// ahead by itself may be megabytes. Advice that is not taken costs time only.
	_ = unix.Madvise(whole, unix.MADV_RANDOM)
	return &mapping{whole: whole, bytes: whole[offset-start:]}, nil
}

// willNeed has the system read n of the bytes from at on, of which many are
// about to be touched.
func (m *mapping) willNeed(at, n int) {
	at += len(m.whole) - len(m.bytes)
	end := at + min(n, len(m.whole)-at) // at+n may be more than an int holds
	at &^= mapAlign - 1
	_ = unix.Madvise(m.whole[at:end], unix.MADV_WILLNEED)
}

func (m *mapping) unmap() error { return m.whole.Unmap() }
