package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"ctxdb/format"
)

// newervectors FILE: gives all vector runs of a file another version.
func newerVectors(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	var s format.Superblock
	for _, slot := range []int64{format.SlotA, format.SlotB} {
		got, err := format.DecodeSuperblock(b[slot:slot+format.SuperblockSize], slot)
		ts.Check(err)
		if got.Epoch >= s.Epoch {
			s = got
		}
	}
	root, err := format.DecodeRoot(b[s.RootOffset:s.RootOffset+s.RootLength], s.UUID, s.RootOffset, s.RootSum)
	ts.Check(err)
	if len(root.Vectors) == 0 {
		ts.Fatalf("%s has no vector runs", path)
	}
	for _, e := range root.Vectors {
		page := b[e.Offset : e.Offset+format.IndexPageSize]
		page[0] = 77
		format.SealDataPage(page, s.UUID, e.Nonce, format.SectionVectors, 0)
	}
	ts.Check(os.WriteFile(path, b, 0o600))
}
