//go:build !linux && !freebsd && !darwin

package segment

import (
	"errors"

	"ctxdb/format/disk"
)

var errNoMap = errors.New("files are not mapped on this system")

// mapping is absent here: some systems promise no coherence between a map and
// writes, or can't truncate a mapped file.
type mapping struct{ bytes []byte }

func mapFile(disk.File, int64, int64) (*mapping, error) { return nil, errNoMap }

func (m *mapping) willNeed(at, n int) {}

func (m *mapping) unmap() error { return nil }
