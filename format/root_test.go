package format

import (
	"errors"
	"testing"
)

// A superblock can't make its reader allocate more than a root may have, be the
// file as long, and as empty, as it likes.
func TestRootLengthIsBounded(t *testing.T) {
	s := Superblock{Major: Major, State: StateClosed, NextID: 1, NextLSN: 1, RootOffset: FirstExtent, RootLength: maxRoot, End: MaxFile}
	if _, err := DecodeSuperblock(s.Encode(SlotA), SlotA); err != nil || maxRoot != 201330688 {
		t.Errorf("the largest root, %d bytes: %v", maxRoot, err)
	}
	s.RootLength += ExtentAlign
	if _, err := DecodeSuperblock(s.Encode(SlotA), SlotA); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a root of %d bytes: %v", s.RootLength, err)
	}
}
