package format

import (
	"time"
)

// One valid instance of each structure. No two fields of one structure have
// the same value, so that a codec that swaps two of them is found out.

var fixUUID = UUID{0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF}

const (
	fixNonce  = 0x9192939495969798
	fixSalt   = 0x8182838485868788
	fixBase   = 0x7000 // of the segment in the file
	fixFrame  = 0x5200 // of the frame in the file
	fixLeaf   = 0x60000
	fixRoot   = 0xA000
	fixBlock  = 0x188 // of the block in the segment
	fixLength = 0x4440
)

func fixSuperblock() Superblock {
	return Superblock{
		Major: Major, Minor: 0x0203, State: StateOpen,
		OptionalFeatures: 0x1112131415161718, WriteFeatures: 0x2122232425262728,
		UUID: fixUUID, Epoch: 0x3132333435363738, Nonce: 0x4142434445464748, Created: -0x5152535455565758,
		NextID: 0x4463646566, NextLSN: 0x7172737475767778, NextSegment: 0x6162636465666768, NextCycle: 0x0203040506070809,
		RootOffset: 0x103000, RootLength: 0x2000, RootSum: 0x1213141516171819, End: 0x5060708090A0,
		Log: []LogExtent{
			{Offset: 0x203000, Length: 0x14000, Cycle: 0x0103040506070809, Salt: 0xB1B2B3B4B5B6B7B8, FirstLSN: 0xC1C2C3C4C5C6C7C8},
			{Offset: 0x403000, Length: 0x34000, Cycle: 0x0113141516171819, Salt: 0xD1D2D3D4D5D6D7D8},
		},
	}
}

func fixHolder() Holder {
	return Holder{PID: 0x0102030405060708, Since: time.Unix(0, 0x1112131415161718), Host: "host.example"}
}

func fixExtent() LogExtent { return fixSuperblock().Log[0] }

func fixSegmentEntries() []SegmentEntry {
	a := SegmentEntry{
		Number: 0x0102030405060708, Offset: 0x7000, Length: 0x4440, FirstID: 0x11121314, Turns: 0x21222324,
		Nonce: 0x3132333435363738, FooterSum: 0x4142434445464748, ContentBytes: 0x5152535455565758,
		SourceBytes: 0x6162636465666768, Tokens: 0x7172737475767778, MinTime: -0x0102030405060709, MaxTime: 0x1112131415161719,
		Keys: 0x20212223, MetaTurns: 0x10111213, RawBytes: 0x8182838485868788,
	}
	b := a
	b.Number, b.Offset, b.FirstID = a.Number+1, 0x20000, a.EndID()+7
	return []SegmentEntry{a, b}
}

func fixRootValue() *Root {
	return &Root{
		Segments: 0x2A, ForgottenOffset: 0x100000, ForgottenLength: 0x1234, ForgottenSum: 0x3132333435363738,
		AsideOffset: 0x600000, AsideLength: 0x2345, AsideSum: 0x4142434445464748,
		Leaves: []LeafRef{
			{Offset: 0x9000, Sum: 0x1112131415161718, FirstID: 0x21222324, Count: 0x24},
			{Offset: 0xB000, Sum: 0x4142434445464748, FirstID: 0x51525354, Count: 0x06},
		},
		Runs: []RunEntry{
			{Offset: 0x200000, Length: 0x3000, FirstID: 0x11, EndID: 0x22232425, Nonce: 0x6162636465666768, Keys: 0x2FB, Level: 0x71727374},
			{Offset: 0x300000, Length: 0x1000, FirstID: 0x22232425, EndID: 0x33343536, Nonce: 0x7172737475767778, Keys: 0x12, Level: 1},
		},
		Lost: []LostRange{{FirstID: 0x41424344, Count: 0x15, Offset: 0x500000, Length: 0x4000}},
		Vectors: []VectorEntry{
			{Offset: 0x700000, Length: 0x4000, FirstID: 0x13, EndID: 0x24252627, Nonce: 0x8182838485868788, Model: 0x1192939495969798, Bytes: 0x3F01, Dims: 0x31, Vectors: 0x41},
			{Offset: 0x800000, Length: 0x1000, FirstID: 0x24252627, EndID: 0x24252628, Nonce: 0x9192939495969798, Model: 0x1192939495969798, Bytes: 0x11},
		},
	}
}

func fixSegmentHeader() *SegmentHeader {
	return &SegmentHeader{UUID: fixUUID, Number: 0x2122232425262728, Nonce: fixNonce, FirstID: 0x313233343, Turns: 0x41424344, Length: fixLength}
}

func fixBlockHeader(stored int) BlockHeader {
	return BlockHeader{Stored: uint32(stored), Raw: 0x0A0B0C, Turn: 0x11121314, Part: 0x21222324, Ordinal: 0x31323334, Stream: StreamContent, Codec: CodecZstdDict}
}

// fixSections fill what is between the header, a few blocks and the table.
func fixSections() []Section {
	return []Section{
		{Type: SectionContentBlocks, Offset: 0x398, Length: 0x2000, Entries: 0x101},
		{Type: SectionKeys, Offset: 0x2398, Length: 0x1000, Entries: 0x17},
		{Type: SectionDictionary, Offset: 0x80, Length: 0x107, Entries: 1},
		{Type: 77, Offset: 0x3398, Length: 0x13, Entries: 0x1112131415161718},
	}
}

func fixFooter() Footer {
	n := len(fixSections())
	return Footer{Number: fixSegmentHeader().Number, TableOffset: fixLength - FooterSize - int64(n)*SectionEntrySize, Sections: uint32(n)}
}

func fixFrameHeader(payload int) Frame {
	return Frame{Type: FrameTurns, Length: uint32(payload), LSN: 0x1112131415161718, Promised: 0x0102030405060708, FirstID: 0x2122232425, Count: 3, Salt: fixSalt}
}

// fixTurn has every field of a record.
func fixTurn() *Turn {
	return &Turn{
		Decision: true, Role: "assistant", Thread: "main", Tokens: 1234,
		Time:    time.Date(2026, 2, 3, 4, 5, 6, 123456789, time.FixedZone("", -5*3600-1800)),
		ReplyTo: 41, Key: "0b5c-key", Summary: "kept the small table", Entities: []string{"parser.go", "Decode"}, Tags: []string{"", "t"},
		Embedding: []float32{0.5, -1, 3e38}, Model: "tiny@3", Content: []byte("Keep the table.\n\tIt \"fits\".\x01"), Source: []byte(`{"a":"Keep the table.\n\tIt \"fits\".\u0001"}`),
	}
}
