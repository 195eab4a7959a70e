package engine

import "ctxdb/format/disk"

// gate is the file as the writer may change it: not at all once a write or sync
// failed. A commit and a sealing beside it meet each other's failures here.
//
// Syncs have a lock and a check of their own: see DB.sync.
type gate struct {
	disk.File
	*writer
}

// WriteAt writes unless the DB is broken. While bytes are on their way nobody
// learns that it is.
func (g gate) WriteAt(p []byte, off int64) (int, error) {
	g.changing.RLock()
	defer g.changing.RUnlock()
	if err := g.broken.Load(); err != nil {
		return 0, *err
	}
	return g.File.WriteAt(p, off)
}

// Truncate cuts the file unless the DB is broken.
func (g gate) Truncate(size int64) error {
	g.changing.RLock()
	defer g.changing.RUnlock()
	if err := g.broken.Load(); err != nil {
		return *err
	}
	return g.File.Truncate(size)
}
