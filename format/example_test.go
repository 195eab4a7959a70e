package format_test

import (
	"errors"
	"fmt"

	"ctxdb/format"
)

// A superblock is bound to its slot: the same bytes in the other slot are
// damage.
func Example() {
	s := format.Superblock{
		Major: format.Major, State: format.StateClosed, UUID: format.UUID{0x42},
		Epoch: 7, NextID: 1, NextLSN: 1, End: format.FirstExtent,
	}
	b := s.Encode(format.SlotB)

	got, err := format.DecodeSuperblock(b, format.SlotB)
	fmt.Println(got.State, "epoch", got.Epoch, err)

	_, err = format.DecodeSuperblock(b, format.SlotA)
	fmt.Println(err, errors.Is(err, format.ErrCorrupt))
	// Output:
	// closed epoch 7 <nil>
	// corrupt superblock at offset 0: checksum differs true
}

// Long content is cut at lines, into parts of about 1,000 tokens.
func ExamplePartEnd() {
	var content []byte
	for line := 1; line <= 200; line++ {
		content = fmt.Appendf(content, "line %3d of a tool's output, which is rather long\n", line)
	}
	for len(content) > 0 {
		n := format.PartEnd(content)
		fmt.Printf("%d bytes, the last line is %q\n", n, content[n-50:n-42])
		content = content[n:]
	}
	// Output:
	// 4050 bytes, the last line is "line  81"
	// 4050 bytes, the last line is "line 162"
	// 1900 bytes, the last line is "line 200"
}

// A record carries a hash of itself and of the content that lies elsewhere.
func ExampleDecodeMeta() {
	turn := format.Turn{Role: "user", Thread: "main", Content: []byte("Why is the test slow?")}
	meta := format.AppendMeta(nil, &turn)

	r, n, err := format.DecodeMeta(meta, 0)
	fmt.Println(r.Role, r.ContentLen, n == len(meta), err)
	fmt.Println(r.Intact(turn.Content), r.Intact([]byte("Why is the test fast?")))
	// Output:
	// user 21 true <nil>
	// true false
}
