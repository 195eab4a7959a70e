//go:build linux || freebsd || darwin

package segment

import (
	"errors"
	"math"

	"github.com/edsrzf/mmap-go"

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
	whole, err := mmap.MapRegion(m.OSFile(), int(size), mmap.RDONLY, 0, start)
	if err != nil {
		return nil, err
	}
	return &mapping{whole: whole, bytes: whole[offset-start:]}, nil
}

func (m *mapping) unmap() error { return m.whole.Unmap() }
