// Package zdict compresses small blocks of text that share a dictionary, as
// Zstandard frames (RFC 8878) that any decoder reads.
//
// [Train] makes an [Encoder] of a dictionary's content and some of the blocks:
// they give the tables of literals and sequences, which the dictionary carries,
// so that a block of 4 KiB need not bring its own. [Encoder.EncodeAll] compresses
// a block, [Encoder.Dictionary] is what a decoder needs.
//
// It stands beside the encoders of klauspost/compress, which does all the
// decoding here, because those are made for streams: they copy hash tables of
// megabytes back to what the dictionary filled them with after each block, look at
// few places of it, and don't weigh its table of literals against the description
// of a new one. Here the places of the dictionary are sorted once, and its tables
// are those of the blocks. Blocks of 4 KiB become a tenth smaller, and decode in
// seven tenths of the time:
//
//	go test -run xxx -bench Blocks ./segment/zdict
//
// Caveats that bite:
//
//   - A block is at most [MaxBlock] bytes: one block of the format.
//   - An Encoder serves one goroutine at a time.
//   - Nothing is checked here: callers decode what they store.
package zdict
