// Package format is every byte that may be in a ctxdb file, and no I/O.
//
// The file is two superblocks, a holder block, and extents: log extents,
// segments, catalog pages, key runs. SPEC.md describes each structure in a
// byte table; the codecs here follow the tables in order, with offsets as
// literals, and a test holds the two against each other.
//
// The nouns: a [Superblock] is the root record. A [Leaf] and a [Root] are the
// catalog. A [Frame] is one record of the log, a batch of turns or a promise.
// A segment is a [SegmentHeader], blocks under a [BlockHeader] each, index
// pages, a section table and a [Footer]. A [Turn] is what all of it is for.
//
// Caveats that bite:
//
//   - Decoders trust nothing. Every length is bounded by its container and by
//     the limits before anything is allocated. They return a [CorruptError]
//     and never panic.
//   - Offsets in errors are absolute in the file. Decoders that see only a part
//     of the file take the absolute offset of that part.
//   - Strings and slices that a decoder returns alias its input unless said
//     otherwise: who keeps them copies them.
//   - Checksums find accidents: disks, copies, programs. They don't stop
//     an author who writes them himself.
package format
