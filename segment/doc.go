// Package segment is sealed turns: building an immutable segment from turns,
// and reading it back a turn, a part or a key at a time.
//
// [Build] lays turns out as SPEC.md section 7 says and returns bytes and a
// catalog entry. [Open] reads such bytes where they lie in a file; it does no
// I/O before the first read. [BuildRun] and [OpenRun] do the same for key runs.
//
// The nouns: a [Segment] holds turns in blocks. An index page finds blocks by
// turn and part, or ids by the hash of a key. A [Run] is index pages of keys
// alone. A [DecoderCache] bounds what the dictionaries of many segments take.
//
// Caveats that bite:
//
//   - Bytes of the file are mapped where the system can, and copied out under a
//     guard before anything looks at them twice. No mapped memory leaves the
//     package; what is returned belongs to the caller.
//   - A file that was cut short under us is [ErrTruncated], with the offset.
//   - A segment that is mapped keeps its file's bytes reachable: the engine
//     takes a reference with Acquire around each use, and gives its own up with
//     Close. The last one unmaps.
//   - Every block, page and turn is checked before it is believed. A mismatch
//     is a [format.CorruptError]; the caller decides whether the file moved on.
//   - One exception: after [Data.Once] a page of a section is checked at its first
//     read, and not again while the section is open. Bytes can rot under a long-lived
//     map; an index read so may then miss a turn or rank it too low until the file
//     is opened anew, or Verify, which checks everything, says so. It never yields
//     a wrong turn: a turn comes from its block, which is checked at each read.
package segment
