package main

import (
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

var moderncPeer = peer{
	name: "sqlite-modernc",
	note: sqliteNote,
	open: func(dir string, _ int) (store, error) {
		return openSQL("sqlite", "file:"+filepath.Join(dir, "turns.sqlite")+
			"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=mmap_size(1073741824)")
	},
}
