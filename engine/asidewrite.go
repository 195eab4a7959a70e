package engine

import (
	"ctxdb/format"
)

// asideAlways: an aside up to this is written along with every sealing. A
// larger one waits until as many bytes are sealed, or for a checkpoint, so that
// it never makes up more than half of what a writer writes.
const asideAlways = 64 << 10

// writeAside writes the aside for a root that is about to be written, if it
// changed. It is never the reason why a change fails: without space the root
// keeps the one it had.
func (db *DB) writeAside(root *format.Root, c *change, written *[]span) error {
	b, changed := db.aside.changed(db)
	if !changed || len(c.log) > 0 && int64(len(b)) > max(asideAlways, c.bytes) {
		return nil
	}
	if err := db.placeAside(b, root, written); err != nil {
		return err
	}
	db.aside.mu.Lock()
	defer db.aside.mu.Unlock()
	db.aside.damaged = db.aside.damaged && root.AsideOffset == db.view.Load().root.AsideOffset
	return nil
}

func (db *DB) placeAside(b []byte, root *format.Root, written *[]span) error {
	if len(b) == 0 {
		root.AsideOffset, root.AsideLength, root.AsideSum = 0, 0, 0
		return nil
	}
	n := int64(len(b))
	off := db.allocate(n)
	if err := db.writeSynced(b, off); err != nil {
		db.release(span{off: off, len: n})
		if isNoSpace(err) {
			db.log.Warn("no space to remember windows; the file keeps what it has of them", "bytes", n, "err", err)
			return nil
		}
		return db.breakOff(err)
	}
	*written = append(*written, span{off: off, len: n})
	root.AsideOffset, root.AsideLength, root.AsideSum = off, n, format.Hash(b)
	return nil
}
