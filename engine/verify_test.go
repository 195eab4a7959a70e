package engine

import (
	"errors"
	"slices"
	"testing"

	"ctxdb/format"
)

// TestLostTurnsByReason: turns side by side that are lost for different reasons are findings
// of their own, and what was lost before the file was made has no offset in it.
func TestLostTurnsByReason(t *testing.T) {
	db := &DB{}
	v := &view{nextID: 20, super: format.Superblock{RootOffset: 12288}, lost: []format.LostRange{
		{FirstID: 3, Count: 4}, {FirstID: 7, Count: 2, Offset: 65536, Length: 64}, {FirstID: 12, Count: 1},
	}}
	type found struct {
		first TurnID
		count uint64
		at    int64
	}
	var got []found
	c := checker{db: db, ctx: ctx, v: v, yield: func(f Finding, err error) bool {
		var damage *CorruptError
		if err != nil || f.Region != "turns" || !errors.As(f.Err, &damage) || !errors.Is(f.Err, ErrCorrupt) || damage.Offset != f.Offset {
			t.Errorf("%+v, %v", f, err)
		}
		got = append(got, found{f.FirstID, f.Count, f.Offset})
		return true
	}}
	c.ids()
	want := []found{{1, 2, 12288}, {3, 4, -1}, {7, 2, 65536}, {9, 3, 12288}, {12, 1, -1}, {13, 7, 12288}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := v.absent(5); !errors.Is(err, ErrCorrupt) || err.Error() != "turn 5: lost when the file was salvaged" {
		t.Errorf("%v", err)
	}
}
