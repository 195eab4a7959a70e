// Package wal is the log inside the file: what was promised durable and not
// yet put away into segments.
//
// # What it is
//
// [Prepare] makes a log extent out of free space. A [Writer] lays frames out
// behind each other in one extent and writes a whole group at once; syncing is
// its caller's. [Scan] reads the extents that a superblock names and says which
// frames count, which tail is torn, and which acknowledged bytes are damaged.
// [Turns] takes the payload of a frame apart.
//
// # The nouns
//
//   - frame: a batch of turns, or an empty promise. Whole or absent.
//   - group: the frames that one write, and then one sync, carry.
//   - promise: the last LSN whose sync had returned when a frame was laid out.
//     Every frame carries one, so that later bytes bear witness to earlier ones.
//   - torn: above every promise, so that nobody was told; dropped.
//   - damage: below a promise, so that somebody was told; reported by id, kept.
//   - salt, cycle: this use of this space. Frames of another are none.
//
// # What bites
//
//   - After a failed write a Writer is done for, and so is its salt: what the
//     device kept of the write is unknown, and a later frame could make a frame
//     out of it (a ghost). What was read must be put away, and fresh salts
//     published, before anything is appended. The same holds after each crash.
//   - Payloads that Stage and Scan return share memory with their group or
//     their extent, which stays alive as long as one of them does.
//   - The promise given to Stage is the last LSN whose sync has *returned*. A
//     later one turns ordinary power cuts into corruption.
//   - The extent before must be synced before the first frame of the next one
//     is written, whatever the sync policy.
//
// SPEC.md sections 6 and 10 to 13 are normative.
package wal
